-- Concurrency groups, rates and lanes by name. A transaction may use a new name and stay
-- open for hours. If it inserted a row with that unique name, all transactions
-- that use the same name would wait for it. Therefore the number of a group or
-- lane follows from its name, and only a poll inserts the row (wf._settle).

-- wf._name_number(p_name)
--
-- Returns  the number that follows from a name: the first 63 bits of its SHA-256
create or replace function wf._name_number(p_name text) returns bigint
language plpgsql immutable as $$
begin
    return ('x' || left(encode(sha256(convert_to(p_name, 'UTF8')), 'hex'), 16))::bit(64)::bigint & 9223372036854775807;
end;
$$;

-- wf._group(p_name)
--
-- Finds a concurrency group by name. If the group has no row, this tells the next poll
-- its name. A group that an earlier release has made keeps its number.
--
-- Returns  the number of the group
-- Raises   WF020 if the name is null, empty or longer than 63 bytes
-- Called   by install, and where a group's name is an expression
create or replace function wf._group(p_name text) returns bigint
language plpgsql as $$
declare
    v_id bigint;
begin
    if coalesce(octet_length(p_name), 0) not between 1 and 63 then
        raise exception using errcode = 'WF020',
            message = format('the name of a concurrency group has 1 to 63 bytes, not %s',
                             coalesce(octet_length(p_name), 0));
    end if;
    select g.id into v_id from wf.concurrency_group g where g.name = p_name;
    if v_id is null then
        v_id := wf._name_number(p_name);
        insert into wf.dirty (group_id, name) values (v_id, p_name);
    end if;
    return v_id;
end;
$$;

-- wf._rate(p_name)
--
-- Returns  the number of a rate, which follows from its name
-- Raises   WF020 if the name is null, empty or longer than 63 bytes
-- Called   by install, and where the name of a rate is an expression
create or replace function wf._rate(p_name text) returns bigint
language plpgsql immutable as $$
begin
    if coalesce(octet_length(p_name), 0) not between 1 and 63 then
        raise exception using errcode = 'WF020',
            message = format('the name of a rate has 1 to 63 bytes, not %s', coalesce(octet_length(p_name), 0));
    end if;
    return wf._name_number(p_name);
end;
$$;
