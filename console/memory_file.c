#include "console/memory_file.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"

int
memory_file_make(const char *text, struct error *err)
{
	size_t len = strlen(text), done = 0;
	ssize_t written = 0;
	int fd = memfd_create("pgwf", 0);

	while (fd >= 0 && done < len && written >= 0) {
		written = write(fd, text + done, len - done);
		done += written > 0 ? (size_t)written : 0;
	}
	if (fd >= 0 && written >= 0)
		return fd;
	error_set_errno(err, "cannot make a file in memory");
	if (fd >= 0)
		close(fd);
	return -1;
}

bool
memory_file_read(int fd, struct buf *buf, struct error *err)
{
	char chunk[4096];
	ssize_t len;
	off_t at = 0;

	while ((len = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		buf_add(buf, chunk, (size_t)len);
		at += len;
	}
	if (len < 0)
		error_set_errno(err, "cannot read a file in memory");
	return len == 0;
}
