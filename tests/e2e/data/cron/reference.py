"""The times that cron expressions name in time zones, for cron.t to compare.

Which local times fit an expression says croniter. When they come says this file:
it takes the moments at which the clock of the zone jumps from zoneinfo and reads
the clock between them. The rule is that of Debian's cron(8). An expression whose
minute or hour begins with * means how much time passes. Any other one means times
of day: what a clock leaves out comes when it jumps, what it shows twice comes once.

Usage: reference.py FROM TO < lines of "ZONE<TAB>EXPRESSION"
It prints a line "ZONE<TAB>EXPRESSION<TAB>seconds since 1970" for each time after
FROM, until TO, both of them years.
"""

import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from croniter import croniter

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


def stretches(zone, begin, end):
    """The spans from begin to end in which the clock does not jump, as
    (first moment, moment after the last, how far the clock is ahead)."""
    first, at = begin, begin
    while at < end:
        after = min(at + HOUR, end)
        if zone.utcoffset_at(after) != zone.utcoffset_at(at):
            low, high = at, after
            while high - low > SECOND:
                middle = low + (high - low) // 2
                middle = middle.replace(microsecond=0)
                if zone.utcoffset_at(middle) == zone.utcoffset_at(at):
                    low = middle
                else:
                    high = middle
            yield first, high, zone.utcoffset_at(at)
            first = high
        at = after
    yield first, end, zone.utcoffset_at(first)


class Zone:
    def __init__(self, name):
        self.info = ZoneInfo(name)

    def utcoffset_at(self, moment):
        return moment.astimezone(self.info).utcoffset()


def local_times(expression, begin, end):
    """The local times that fit, begin included and end not."""
    times = croniter(expression, begin - SECOND)
    at = times.get_next(datetime)
    while at < end:
        yield at
        at = times.get_next(datetime)


def moments(name, expression, begin, end):
    fields = expression.split()
    passing = fields[0].startswith("*") or fields[1].startswith("*")
    found = set()
    shown = None  # how far the clock has been, for times of day
    for first, after, ahead in stretches(Zone(name), begin, end):
        naive = (first + ahead).replace(tzinfo=None)
        stop = (after + ahead).replace(tzinfo=None)
        if passing or shown is None:
            start = naive
        elif naive > shown:  # the clock was put on: what it leaves out comes now
            for _ in local_times(expression, shown, naive):
                found.add(first)
                break
            start = naive
        else:  # it was put back
            start = shown
        for at in local_times(expression, start, stop):
            found.add(at.replace(tzinfo=timezone.utc) - ahead)
        shown = stop if shown is None else max(shown, stop)
    return sorted(m for m in found if begin < m <= end)


def main():
    begin = datetime(int(sys.argv[1]), 1, 1, tzinfo=timezone.utc)
    end = datetime(int(sys.argv[2]), 1, 1, tzinfo=timezone.utc)
    for line in sys.stdin:
        name, expression = line.rstrip("\n").split("\t")
        for moment in moments(name, expression, begin, end):
            print(name, expression, int(moment.timestamp()), sep="\t")


main()
