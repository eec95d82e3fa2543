#!/usr/bin/env bash
# sql_rows.t - the rows of SQL tasks: those that are wanted are bounded where
# they are made, the others are counted; whatever the shape of the statement.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/e2e/flow.sh"

workspace_start
login_create etl wf_app
sql 'create table mark (n int);
     create table noted (at timestamptz);
     create function note() returns void language sql as
         $$ insert into noted values (clock_timestamp()) $$;
     create procedure noted(inout n bigint) language sql as
         $$ select count(*) from noted $$;
     grant select, insert, update on mark, noted to etl'
driver_start one -o sql_connection=user=etl -o sql_max_rows_bytes=1002
ok 'install' wf-console install "$ROOT/tests/e2e/data/sql_rows/sql_rows.wf"

# values ID: the names of an instance and their values.
values() {
    sql "select name, value from wf.binding where instance_id = $1
          order by name collate \"C\""
}

id=$(begin rows)
ended "$id" || true
is 'rows are objects, in the order of the statement' "$(values "$id")" \
    'names|{"rows": [{"a": 3, "q": 1}], "count": 1}
none|{"rows": [], "count": 0}
ordered|{"rows": [{"column1": 3}, {"column1": 2}, {"column1": 1}], "count": 3}
returned|{"rows": [{"m": 10, "n": 1}, {"m": 20, "n": 2}], "count": 2}
types|{"rows": [{"f": "NaN", "i": "01:00:00", "j": {"b": [1, 2]}, "r": null, "pg_sleep": ""}], "count": 1}'

id=$(begin counts)
ended "$id" || true
is 'rows that nobody wants are counted' \
    "$(values "$id" | sed -n 's/^counts|//p')" '[2, 2, 3, 4, 2, 5, 5, 2, 5, 0, 0, 0]'
is 'each of them was made once' "$(sql 'select count(*) from noted')" 4
is 'a statement without rows has its effect' \
    "$(sql 'select string_agg(n::text, null order by n) from mark')" 12345

id=$(begin fails)
failed "$id" 5
is 'a row that cannot be made is a failure, as is one too much' \
    "$(sql "select error ->> 'kind', coalesce(error #>> '{detail,sqlstate}', error ->> 'message')
              from wf.task_v where instance_id = $id order by process_id")" \
    "sql|22012
sql|22012
sql|22P02
output|the statement's rows take more than 1002 bytes
output|the statement's rows take more than 1002 bytes"
is 'of an error that quotes a value the beginning is kept' \
    "$(sql "select length(error ->> 'message') from wf.task_v
             where instance_id = $id and error #>> '{detail,sqlstate}' = '22P02'")" 4096

id=$(begin fits)
ended "$id" || true
is 'as many bytes as are allowed are' "$(state_of "$id")" 'END success'
sql "update wf.setting set value = '800' where name = 'value_bytes'"
id=$(begin refused)
failed "$id"
is 'a response that is too large for the workspace is of kind output, too' "$(sql "
    select error ->> 'kind', error ->> 'message' from wf.task_v where instance_id = $id")" \
    'output|the response has 929 bytes, more than the 800 allowed'
sound
done_testing
