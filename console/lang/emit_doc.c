/* Doc comments as text. */
#include <string.h>

#include "console/lang/emitter.h"
#include "console/lang/source.h"

static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* One line without the blanks around it and without the star. */
static void
add_line(struct buf *text, const char *p, const char *end)
{
	p = skip_blanks(p, end);
	if (p < end && *p == '*') {
		p++;
		if (p < end && *p == ' ')
			p++;
	}
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	buf_add(text, p, (size_t)(end - p));
	buf_addc(text, '\n');
}

void
emit_doc(struct emitter *emitter, const struct comment *doc)
{
	const char *p, *end, *stop;
	struct buf text;
	size_t first;

	if (!doc)
		return;
	p = emitter->source->text + doc->offset + 3;
	end = p + doc->len - 5;
	buf_init(&text, 0);
	for (; p <= end; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		add_line(&text, p, stop);
	}
	while (text.len && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	first = strspn(text.data, "\n");
	if (text.data[first] != '\0') {
		buf_adds(&emitter->out, ",\"doc\":");
		emit_string(emitter, text.data + first);
	}
	buf_release(&text);
}
