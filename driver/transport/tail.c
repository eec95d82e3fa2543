#include "driver/transport/tail.h"

#include <string.h>

void
tail_init(struct tail *tail, size_t limit)
{
	buf_init(&tail->kept, 0);
	tail->limit = limit;
	tail->cut = 0;
}

void
tail_release(struct tail *tail)
{
	buf_release(&tail->kept);
}

void
tail_skip(struct tail *tail, size_t len)
{
	struct buf *kept = &tail->kept;

	if (len == 0)
		return;
	memmove(kept->data, kept->data + len, kept->len - len);
	buf_truncate(kept, kept->len - len);
}

void
tail_cut(struct tail *tail, size_t len)
{
	tail_skip(tail, len);
	tail->cut += len;
}

void
tail_trim(struct tail *tail)
{
	if (tail->kept.len > tail->limit)
		tail_cut(tail, tail->kept.len - tail->limit);
}

void
tail_add(struct tail *tail, const void *data, size_t len)
{
	const char *bytes = data;

	if (len > tail->limit) {
		tail->cut += tail->kept.len + (len - tail->limit);
		buf_truncate(&tail->kept, 0);
		bytes += len - tail->limit;
		len = tail->limit;
	}
	/* trimming at twice the limit moves each byte only once */
	if (tail->kept.len + len > 2 * tail->limit)
		tail_trim(tail);
	buf_add(&tail->kept, bytes, len);
}
