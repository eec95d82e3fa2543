#include "console/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/mem.h"

/* Another page, no cursor, nothing wraps; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

struct screen {
	struct termios before;
	sigset_t mask_before;
	int signals; /* descriptor */
	struct winsize size;
	struct buf frame;
	size_t lines; /* of it */
};

static void
write_all(const char *text, size_t len)
{
	ssize_t done;

	for (; len > 0; text += done, len -= (size_t)done) {
		done = write(STDOUT_FILENO, text, len);
		if (done < 0 && errno != EINTR)
			return; /* it is gone: a read has failed */
		if (done < 0)
			done = 0;
	}
}

static void
measure(struct screen *screen)
{
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen->size) < 0 ||
	    screen->size.ws_row == 0 || screen->size.ws_col == 0)
		screen->size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
}

static void
catch_signals(struct screen *screen)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGWINCH);
	sigprocmask(SIG_BLOCK, &mask, &screen->mask_before);
	screen->signals = signalfd(-1, &mask, SFD_CLOEXEC);
}

struct screen *
screen_open(void)
{
	const char *term = getenv("TERM");
	struct termios raw;
	struct screen *screen;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &raw) < 0 ||
	    term == NULL || strcmp(term, "dumb") == 0)
		return NULL;
	screen = xcalloc(1, sizeof(*screen));
	screen->before = raw;
	buf_init(&screen->frame, 0);
	catch_signals(screen);
	raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN);
	/* of the keys that send signals, only ^C stays: it stops a query */
	raw.c_cc[VQUIT] = raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	raw.c_iflag &= ~(tcflag_t)(IXON);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	write_all(ENTER, strlen(ENTER));
	measure(screen);
	return screen;
}

void
screen_close(struct screen *screen)
{
	if (screen == NULL)
		return;
	write_all(LEAVE, strlen(LEAVE));
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &screen->before);
	close(screen->signals);
	sigprocmask(SIG_SETMASK, &screen->mask_before, NULL);
	buf_release(&screen->frame);
	free(screen);
}

size_t
screen_rows(const struct screen *screen)
{
	return screen->size.ws_row;
}

size_t
screen_columns(const struct screen *screen)
{
	return screen->size.ws_col;
}

void
screen_add(struct screen *screen, const char *line)
{
	if (screen->lines >= screen->size.ws_row)
		return;
	buf_adds(&screen->frame, screen->lines > 0 ? "\r\n" : "\033[H");
	buf_addf(&screen->frame, "%s\033[0m\033[K", line);
	screen->lines++;
}

void
screen_show(struct screen *screen)
{
	/* in one write, over the old lines: nothing flickers */
	buf_adds(&screen->frame, "\033[J");
	write_all(screen->frame.data, screen->frame.len);
	buf_truncate(&screen->frame, 0);
	screen->lines = 0;
}

/* Keys as terminals send them. */
static const struct {
	const char *bytes;
	enum key key;
} keys[] = {
	{ "q", KEY_QUIT },
	{ "k", KEY_UP },
	{ "\033[A", KEY_UP },
	{ "\033OA", KEY_UP },
	{ "j", KEY_DOWN },
	{ "\033[B", KEY_DOWN },
	{ "\033OB", KEY_DOWN },
	{ "\033[5~", KEY_PAGE_UP },
	{ " ", KEY_PAGE_DOWN },
	{ "\033[6~", KEY_PAGE_DOWN },
	{ "g", KEY_FIRST },
	{ "\033[H", KEY_FIRST },
	{ "\033[1~", KEY_FIRST },
	{ "\033OH", KEY_FIRST },
	{ "G", KEY_LAST },
	{ "\033[F", KEY_LAST },
	{ "\033[4~", KEY_LAST },
	{ "\033OF", KEY_LAST },
	{ "\r", KEY_OPEN },
	{ "\n", KEY_OPEN },
	{ "b", KEY_BACK },
	{ "\177", KEY_BACK },
	{ "\b", KEY_BACK },
	{ "\033[D", KEY_BACK },
	{ "\033OD", KEY_BACK },
};

static bool
read_byte(char *byte)
{
	return read(STDIN_FILENO, byte, 1) == 1;
}

static bool
has_byte(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 20) > 0;
}

/* A key is a byte, or an escape sequence that comes in one go. */
static enum key
read_key(void)
{
	char bytes[8] = "";
	size_t len = 0, i;

	if (!read_byte(&bytes[len++]))
		return KEY_QUIT;
	while (bytes[0] == '\033' && len + 1 < sizeof(bytes) && has_byte() &&
	       read_byte(&bytes[len])) {
		len++;
		/* after "[" or "O" a letter or a tilde is the last byte */
		if (len > 2 && (bytes[len - 1] >= '@'))
			break;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].bytes, bytes) == 0)
			return keys[i].key;
	return KEY_OTHER;
}

enum key
screen_wait(struct screen *screen, int ms)
{
	struct pollfd fds[] = {
		{ .fd = screen->signals, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	struct signalfd_siginfo signal;

	if (poll(fds, 2, ms) <= 0)
		return KEY_NONE;
	if (fds[0].revents == 0)
		return read_key();
	if (read(screen->signals, &signal, sizeof(signal)) <= 0 ||
	    signal.ssi_signo != SIGWINCH)
		return KEY_QUIT;
	measure(screen);
	return KEY_RESIZED;
}
