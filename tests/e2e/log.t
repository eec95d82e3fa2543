#!/usr/bin/env bash
# log.t - whatever happens, and whatever bytes a workflow brings along: each
# line of a driver's log is one JSON object, or one line of plain text.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

HOSTILE=$'one\ntwo\r\t"quoted\\" \e[31mred\e[0m \x7f {"level":"error"} \xc2\x9b31m é'

workspace_start
ok 'install' wf-console install "$ROOT/tests/e2e/data/log/log.wf"

# strange FILE: the lines that are no object with a time, a level and a
# message, and those about a task that do not say which.
strange() {
    perl -MJSON::PP -ne '
        my $line = eval { JSON::PP->new->utf8->decode($_) };
        print "no object: $_" and next if ref $line ne "HASH";
        print "no time, level or message: $_"
            unless $line->{at} =~ /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
            and $line->{level} =~ /^(error|warn|info|debug)$/
            and defined $line->{message};
        print "not whole: $_"
            if grep(defined $line->{$_}, qw(instance process attempt task)) % 4;
        print "no fields: $_" if $line->{message} =~ /^task \d/;' "$1"
}

# happens: all that the log is to be about.
happens() {
    id=$(begin hostile -p "text=$HOSTILE" -p url=http://127.0.0.1:1/)
    wait_sql 60 "select count(*) = 5 from wf.process_v
        where instance_id = $id and kind = 'sync'
          and state in ('FAILED', 'END')" || true
    printf 'slots = "no\n' >"$WORK/driver.conf"
    kill -s HUP "$(pid_of driver-one)"
    wait_until 60 grep -q 'not read again' "$WORK/driver-one.log" || true
    sql "select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'wf_driver_one'" >"$WORK/terminated"
    wait_until 60 grep -q 'connected again' "$WORK/driver-one.log" || true
    driver_stop one || true
}

# --- JSON

printf 'slots = 7;\n' >"$WORK/driver.conf"
driver_start one -c "$WORK/driver.conf" -o log_json=true \
    -o "sql_connection=user=postgres dbname=$PGDATABASE"
happens
is 'JSON: every line is an object, and whole' \
    "$(strange "$WORK/driver-one.log")" ''
is 'JSON: what a workflow says arrives as it was said' \
    "$(perl -MJSON::PP -CO -ne 'my $l = JSON::PP->new->utf8->decode($_);
        print $l->{message} if ($l->{task} // "") eq "lb.Log"
            and $l->{message} =~ /^one/' "$WORK/driver-one.log")" "$HOSTILE"
for why in 'registered as driver' 'is RUNNING' 'not read again' \
    'connected again' 'a\\u000ab' 'left'; do
    ok "JSON: there is a line: $why" \
        grep -q "\"message\":\".*$why" "$WORK/driver-one.log"
done

# what keeps a driver from starting, too
for arguments in '-o slots=0' '-o nonsense=1' "-c $WORK/driver.conf" \
    "-c $WORK/none.conf" "-n -d host=$WORK/nowhere"; do
    # shellcheck disable=SC2086 # words
    wf-driver -o log_json=true $arguments 2>"$WORK/refused" || true
    is "JSON: $arguments" "$(strange "$WORK/refused")$(wc -l <"$WORK/refused")" 1
done

# --- text

rm "$WORK/driver-one.log"
printf 'slots = 7;\n' >"$WORK/driver.conf"
driver_start one -c "$WORK/driver.conf" \
    -o "sql_connection=user=postgres dbname=$PGDATABASE"
happens
is 'text: every line begins with who says it' \
    "$(search grep -vaE '^(wf-driver: |[0-9]+/[0-9]+ )' "$WORK/driver-one.log")" ''
is 'text: no control characters' \
    "$(search grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' \
        "$WORK/driver-one.log")" ''
ok 'text: what a workflow says is one line' \
    grep -qE '^[0-9]+/[0-9]+ one two .*quoted' "$WORK/driver-one.log"
done_testing
