#include "driver/transport/ssh/crowd.h"

bool
crowd_waits_long(struct crowd *crowd, int64_t waiting, struct mono now)
{
	int64_t ms;

	/* what was long ago says nothing about the commands of now */
	if (!crowd->waits || mono_diff_ms(now, crowd->since) > CROWD_LONG_MS)
		*crowd = (struct crowd){ .waits = true, .since = now };
	ms = mono_diff_ms(now, crowd->since);
	return ms >= CROWD_LOOK_MS &&
	       waiting * ms > crowd->ended * CROWD_LONG_MS;
}

void
crowd_ended(struct crowd *crowd)
{
	crowd->ended++;
}

void
crowd_gone(struct crowd *crowd)
{
	crowd->waits = false;
}
