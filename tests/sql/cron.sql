-- cron.sql - cron expressions: the times that they name, malformed ones, and clocks that jump (e2e/cron.t compares ten years).
begin;
select no_plan();

-- next(CRON, AFTER [, ZONE]): the next three times, in UTC
create function next(p_cron text, p_after timestamptz, p_zone text default 'UTC', p_count int default 3) returns text
language plpgsql as $$
declare
    v_cron constant wf.cron := wf._parse_cron(p_cron);
    v_at timestamptz := p_after;
    v_all text[] := '{}';
begin
    for k in 1 .. p_count loop
        v_at := wf._cron_next(v_cron, p_zone, v_at);
        v_all := v_all || coalesce(to_char(v_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), 'never');
    end loop;
    return array_to_string(v_all, ', ');
end;
$$;

-- what fields name
select is(next('30 2 * * *', '2026-03-01 02:30:00Z'), '2026-03-02 02:30:00, 2026-03-03 02:30:00, 2026-03-04 02:30:00', 'a time of day, after and not at the moment given');
select is(next('*/15 * * * *', '2026-03-01 12:44:59.5Z'), '2026-03-01 12:45:00, 2026-03-01 13:00:00, 2026-03-01 13:15:00', 'steps');
select is(next('5/20 8 * * *', '2026-03-01Z'), '2026-03-01 08:05:00, 2026-03-01 08:25:00, 2026-03-01 08:45:00', 'steps from a number on');
select is(next('*/20 30 8 * * *', '2026-03-01Z'), '2026-03-01 08:30:00, 2026-03-01 08:30:20, 2026-03-01 08:30:40', 'six fields: seconds first');
select is(next('0 9-17/4,12 * * *', '2026-03-01Z'), '2026-03-01 09:00:00, 2026-03-01 12:00:00, 2026-03-01 13:00:00', 'a list of a range with steps and a number');
select is(next('0 0 * * mon-FRI', '2026-03-06Z'), '2026-03-09 00:00:00, 2026-03-10 00:00:00, 2026-03-11 00:00:00', 'names of weekdays, in any case');
select is(next('0 0 * * 7', '2026-03-01Z'), '2026-03-08 00:00:00, 2026-03-15 00:00:00, 2026-03-22 00:00:00', '7 is Sunday');
select is(next('0 0 * * 0', '2026-03-01Z'), next('0 0 * * sun', '2026-03-01Z'), '0 is Sunday, too');
select is(next('0 0 1 jan,jul *', '2026-03-01Z'), '2026-07-01 00:00:00, 2027-01-01 00:00:00, 2027-07-01 00:00:00', 'names of months');
select is(next('0 0 13 * fri', '2026-03-01Z'), '2026-03-06 00:00:00, 2026-03-13 00:00:00, 2026-03-20 00:00:00', 'a day of the month and a weekday: either of them');
select is(next('0 0 */10 * fri', '2026-03-01Z'), '2026-05-01 00:00:00, 2026-07-31 00:00:00, 2026-08-21 00:00:00', 'if one of them begins with * it is both');
select is(next('0 0 29 2 *', '2026-03-01Z'), '2028-02-29 00:00:00, 2032-02-29 00:00:00, 2036-02-29 00:00:00', 'the 29th of February');
select is(next('0 0 29 2 *', '2096-03-01Z', 'UTC', 1), '2104-02-29 00:00:00', 'eight years without one');
select is(next('@hourly', '2026-03-01 12:10Z', 'UTC', 1), '2026-03-01 13:00:00', '@hourly');
select is(next('@daily', '2026-03-01 12:10Z', 'UTC', 1), '2026-03-02 00:00:00', '@daily');
select is(next('@weekly', '2026-03-01 12:10Z', 'UTC', 1), '2026-03-08 00:00:00', '@weekly');
select is(next('@monthly', '2026-03-01 12:10Z', 'UTC', 1), '2026-04-01 00:00:00', '@monthly');
select is(next('@yearly', '2026-03-01 12:10Z', 'UTC', 1), '2027-01-01 00:00:00', '@yearly');

-- clocks that jump: Berlin is put on by an hour at 2026-03-29 01:00 UTC, and back at 2026-10-25 01:00 UTC
select is(next('30 2 * * *', '2026-03-28 12:00Z', 'Europe/Berlin'), '2026-03-29 01:00:00, 2026-03-30 00:30:00, 2026-03-31 00:30:00', 'a time of day that the clock leaves out comes when it jumps');
select is(next('0,30 2,3 * * *', '2026-03-28 12:00Z', 'Europe/Berlin'), '2026-03-29 01:00:00, 2026-03-29 01:30:00, 2026-03-30 00:00:00', 'several of them come once');
select is(next('30 2 * * *', '2026-10-24 12:00Z', 'Europe/Berlin'), '2026-10-25 00:30:00, 2026-10-26 01:30:00, 2026-10-27 01:30:00', 'a time of day that the clock shows twice comes the first time');
select is(next('30 2 * * *', '2026-10-25 01:10Z', 'Europe/Berlin', 1), '2026-10-26 01:30:00', 'a time of day that the clock shows twice does not come again between the two');
select is(next('15 * * * *', '2026-03-29 00:00Z', 'Europe/Berlin'), '2026-03-29 00:15:00, 2026-03-29 01:15:00, 2026-03-29 02:15:00', 'each hour is each hour, when the clock is put on');
select is(next('15 * * * *', '2026-10-24 23:20Z', 'Europe/Berlin'), '2026-10-25 00:15:00, 2026-10-25 01:15:00, 2026-10-25 02:15:00', 'an hourly schedule comes each hour when the clock is put back');
select is(next('0 12 * * *', '2011-12-29 00:00Z', 'Pacific/Apia', 2), '2011-12-29 22:00:00, 2011-12-30 10:00:00', 'a day that a zone leaves out comes when its clock jumps');

-- what is not a cron expression
create function refused(p_cron text) returns text
language plpgsql as $$ begin perform wf._parse_cron(p_cron); return 'accepted'; exception when sqlstate 'WF002' then return sqlerrm; end; $$;
select is(refused('30 2 * *'), '''30 2 * *'' is not a cron expression: it has 4 fields instead of 5 or 6', 'an expression with too few fields is refused');
select is(refused(''), ''''' is not a cron expression: it has 1 fields instead of 5 or 6', 'nothing');
select is(refused('0 0 0 0 0 0 0'), '''0 0 0 0 0 0 0'' is not a cron expression: it has 7 fields instead of 5 or 6', 'an expression with too many fields is refused');
select is(refused('@reboot'), '''@reboot'' is not a cron expression: it has 1 fields instead of 5 or 6', 'a word other than the five is refused');
select is(refused('60 * * * *'), 'the minute cannot be ''60'': it is a number from 0 to 59', 'a minute that does not exist');
select is(refused('* 24 * * *'), 'the hour cannot be ''24'': it is a number from 0 to 23', 'an hour');
select is(refused('* * 0 * *'), 'the day of the month cannot be ''0'': it is a number from 1 to 31', 'a day');
select is(refused('* * * ju *'), 'the month cannot be ''ju'': it is a number from 1 to 12, or one of jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec', 'a month');
select is(refused('* * * * 8'), 'the day of the week cannot be ''8'': it is a number from 0 to 7, or one of sun, mon, tue, wed, thu, fri, sat', 'a weekday');
select is(refused('*/0 * * * *'), '''*/0'' names no minute: a step is at least 1', 'a step of nothing');
select is(refused('* 5-3 * * *'), '''5-3'' names no hour: the range ends before it begins', 'a range that ends before it begins');
select is(refused('* * L * *'), 'the day of the month cannot be ''L'': it is a number from 1 to 31', 'L, known from other systems, is refused');
select is(refused('1,,2 * * * *'), ''''' is no minute', 'a list with a gap');
select is(refused('1;2 * * * *'), '''1;2'' is no minute', 'anything else');
select is(refused('0 0 30 2 *'), '''0 0 30 2 *'' never fires: no year has such a day', 'the 30th of February');
select is(refused(repeat('1,', 600) || '1 * * * *'), 'a cron expression has at most 1000 bytes, not 1209', 'a text that is too long');
select throws_matching($$select wf._parse_cron('x')$$, 'not a cron expression', 'the error is one of WF002');

select * from finish();
rollback;
