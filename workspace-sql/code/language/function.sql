-- Calls of functions: arguments, dispatch, and functions that a DBA has added.

-- wf._fail_argument(p_function, p_at, p_expected, p_value)
--
-- Returns  never
-- Locks    nothing
-- Raises   WF020: argument <p_at> of <p_function> must be <p_expected>, not <p_value>
-- Called   by functions
create or replace function wf._fail_argument(p_function text, p_at integer, p_expected text, p_value jsonb)
returns jsonb
language sql stable
begin atomic
    select wf._fail_value(format('argument %s of %s', p_at, p_function), p_expected, p_value);
end;

-- wf._string(p_function, p_args, p_at, p_default)
--
-- Returns  an argument that is a string; p_default, if there is one, for an argument that is null or missing
-- Locks    nothing
-- Raises   WF020 if it is anything else
-- Called   by functions
create or replace function wf._string(p_function text, p_args jsonb[], p_at integer, p_default text default null)
returns text
language sql stable
begin atomic
    select case
               when jsonb_typeof(p_args[p_at]) = 'string' then p_args[p_at] #>> '{}'
               when p_default is not null and coalesce(p_args[p_at], 'null') = 'null' then p_default
               else wf._fail_argument(p_function, p_at, 'a string', p_args[p_at]) #>> '{}'
           end;
end;

-- wf._number(p_function, p_args, p_at)
--
-- Returns  an argument that is a number
-- Locks    nothing
-- Raises   WF020 if it is anything else
-- Called   by functions
create or replace function wf._number(p_function text, p_args jsonb[], p_at integer)
returns numeric
language sql stable
begin atomic
    select case when jsonb_typeof(p_args[p_at]) = 'number'
                then p_args[p_at]
                else wf._fail_argument(p_function, p_at, 'a number', p_args[p_at])
           end::numeric;
end;

-- wf._int(p_function, p_args, p_at, p_default)
--
-- Returns  an argument that is an int of 32 bits; p_default, if there is one, for an argument that is null or missing
-- Locks    nothing
-- Raises   WF020 if it is anything else
-- Called   by functions
create or replace function wf._int(p_function text, p_args jsonb[], p_at integer, p_default integer default null)
returns integer
language plpgsql stable as $$
declare
    v_number numeric;
begin
    if p_default is not null and coalesce(p_args[p_at], 'null') = 'null' then
        return p_default;
    end if;
    v_number := wf._number(p_function, p_args, p_at);
    if v_number <> trunc(v_number) or abs(v_number) > 2147483647 then
        perform wf._fail_argument(p_function, p_at, 'an int of 32 bits', p_args[p_at]);
    end if;
    return v_number;
end;
$$;

-- wf._list(p_function, p_args, p_at)
--
-- Returns  an argument that is a list
-- Locks    nothing
-- Raises   WF020 if it is anything else
-- Called   by functions
create or replace function wf._list(p_function text, p_args jsonb[], p_at integer)
returns jsonb
language sql stable
begin atomic
    select case when jsonb_typeof(p_args[p_at]) = 'array'
                then p_args[p_at]
                else wf._fail_argument(p_function, p_at, 'a list', p_args[p_at])
           end;
end;

-- wf._object(p_function, p_args, p_at)
--
-- Returns  an argument that is an object
-- Locks    nothing
-- Raises   WF020 if it is anything else
-- Called   by functions
create or replace function wf._object(p_function text, p_args jsonb[], p_at integer)
returns jsonb
language sql stable
begin atomic
    select case when jsonb_typeof(p_args[p_at]) = 'object'
                then p_args[p_at]
                else wf._fail_argument(p_function, p_at, 'an object', p_args[p_at])
           end;
end;

-- wf._is_callable(p_proc)
--
-- A registered function runs inside the engine. Therefore it must change nothing
-- (immutable), and must run with the rights of its own owner (security definer).
--
-- Returns  null if expressions may call the SQL function, else why not
-- Locks    nothing
-- Raises   nothing
-- Called   by function_set, and at every call, since the SQL function may have been replaced
create or replace function wf._is_callable(p_proc oid)
returns text
language plpgsql stable as $$
begin
    return (select case
                       when p.prokind <> 'f' or p.proretset then 'it is not a plain function'
                       when p.provolatile <> 'i' then 'it is not immutable'
                       when not p.prosecdef then 'it is not security definer'
                       when p.provariadic <> 'jsonb'::regtype or p.pronargs <> 1
                           then 'its arguments are not (variadic jsonb[])'
                       when p.prorettype <> 'jsonb'::regtype then 'it does not return jsonb'
                       when not has_function_privilege('wf_owner', p.oid, 'execute') then 'wf_owner may not call it'
                   end
              from pg_proc p
             where p.oid = p_proc);
end;
$$;

-- wf._call_registered(p_name, p_args)
--
-- This is the only place in the interpreter with dynamic SQL. The names in it come from
-- the catalogue of functions, and the arguments are a parameter.
--
-- Each error that the function raises is an error of the expression, even one of a
-- class that means a fault of the server. Otherwise the error would come again each
-- time, and stop every procedure that evaluates the expression.
--
-- A function may change settings of the session, search_path among them, and call
-- functions that write. None of that may reach the engine, which goes on as wf_owner
-- in the same statement. Therefore the function runs in a subtransaction that is
-- always rolled back: the server then takes all changes back, and v_value stays.
--
-- Returns  the value of a function that a DBA has added
-- Raises   WF020 if there is no such function (any more), or with the message that the function raises
-- Called   by _call
create or replace function wf._call_registered(p_name text, p_args jsonb[])
returns jsonb
language plpgsql stable as $$
declare
    v_function wf.function;
    v_proc     regprocedure;
    v_problem  text;
    v_value    jsonb;
    v_returned boolean := false;
    v_detail   text;
    v_hint     text;
begin
    select f.* into v_function from wf.function f where f.name = p_name and f.proc_name is not null;
    if not found then
        return wf._fail(concat_ws(' ', 'there is no function', p_name));
    end if;
    v_proc    := to_regprocedure(format('%I.%I(jsonb[])', v_function.schema_name, v_function.proc_name));
    v_problem := case when v_proc is null then 'it no longer exists' else wf._is_callable(v_proc) end;
    if v_problem is not null then
        return wf._fail('function ' || p_name || ' cannot be called: ' || v_problem,
                        'A DBA can repair it, or register another one.');
    end if;
    begin
        execute format('select %I.%I(variadic $1)', v_function.schema_name, v_function.proc_name)
           into v_value
          using p_args;
        v_returned := true;
        raise exception using errcode = 'WF020';
    exception when others or assert_failure then
        if v_returned then
            return coalesce(v_value, 'null');
        end if;
        get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
        raise exception using errcode = 'WF020', message = sqlerrm, detail = v_detail, hint = v_hint;
    end;
end;
$$;

-- wf._call(p_name, p_args)
--
-- Returns  the value of a function; null if its first argument is null, except for json and typeof
-- Locks    nothing
-- Raises   WF020, or the errors that the function raises
-- Called   by the operator call
create or replace function wf._call(p_name text, p_args jsonb[])
returns jsonb
language sql stable
begin atomic
    select case
               when p_args[1] = 'null' and p_name not in ('json', 'typeof')
               then 'null'
               when p_name = any ('{string,size,trim,lower,upper,replace,split,join,starts_with,ends_with,contains,'
                                  'substring,lpad,matches,capture,replace_all}'::text[])
               then wf._call_text(p_name, p_args)
               when p_name = any ('{first,last,sort,reverse,unique,sum,min,max,flatten,slice,concat}'::text[])
               then wf._call_list(p_name, p_args)
               when p_name = any ('{keys,values,merge,has,entries}'::text[])
               then wf._call_object(p_name, p_args)
               when p_name = any ('{abs,ceil,floor,round,int,number}'::text[])
               then wf._call_number(p_name, p_args)
               when p_name = any ('{now,today,date,timestamp,duration,seconds,format_time}'::text[])
               then wf._call_time(p_name, p_args)
               when p_name = any ('{json,parse,path,typeof}'::text[])
               then wf._call_json(p_name, p_args)
               when p_name = any ('{sh,quote_ident,url_encode,base64,sha256}'::text[])
               then wf._call_quoting(p_name, p_args)
               else wf._call_registered(p_name, p_args)
           end;
end;

-- wf.function_set(p_name, p_proc, p_arguments, p_returns, p_meaning)
--
-- Adds a function to the expression language, or replaces one that was added. The SQL
-- function gets its arguments as (variadic jsonb[]), without those that were left out. It
-- is not called if the first argument is null.
--
-- Returns  nothing
-- Locks    the row of the function
-- Raises   WF002 if the name is taken or bad, or if expressions may not call the SQL function
-- Called   by DBAs
create or replace function wf.function_set(
    p_name text, p_proc regproc, p_arguments text[], p_returns text, p_meaning text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
declare
    v_problem text := wf._is_callable(p_proc);
begin
    if p_name is null or p_name !~ '^[a-z_][a-z0-9_]{0,62}$' then
        raise exception using errcode = 'WF002',
            message = format('%s is not a name of a function', coalesce(quote_literal(left(p_name, 100)), 'null')),
            hint = 'A name has lower-case letters, digits and underscores, 63 at most.';
    elsif exists (select from wf.function f where f.name = p_name and f.proc_name is null) then
        raise exception using errcode = 'WF002', message = format('function %s is built in', p_name),
            hint = 'Choose another name.';
    elsif p_proc is null or v_problem is not null then
        raise exception using errcode = 'WF002',
            message = format('expressions may not call %s: %s', coalesce(p_proc::text, 'null'),
                             coalesce(v_problem, 'there is no such function')),
            hint = 'It must be immutable and security definer, take (variadic jsonb[]), return jsonb, and wf_owner '
                   'must be allowed to call it.';
    elsif p_arguments is null or array_position(p_arguments, null) is not null then
        raise exception using errcode = 'WF002', message = 'the arguments of the function are not listed',
            hint = 'Give name and type of each argument, as in ''{s: string,n: int?}''.';
    end if;
    insert into wf.function (name, topic, arguments, returns, schema_name, proc_name, meaning)
    select p_name, 'custom', p_arguments, coalesce(p_returns, 'json'), n.nspname, p.proname, coalesce(p_meaning, '')
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     where p.oid = p_proc
        on conflict (name) do update
       set arguments = excluded.arguments, returns = excluded.returns, meaning = excluded.meaning,
           schema_name = excluded.schema_name, proc_name = excluded.proc_name;
    perform wf._audit('function set', jsonb_build_object(
        'function', p_name, 'calls', p_proc::text, 'arguments', p_arguments, 'returns', p_returns,
        'sha256', (select encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex') from pg_proc p where p.oid = p_proc)));
end;
$$;
comment on function wf.function_set(text, regproc, text[], text, text) is
    'Add a function to the expression language: an SQL function that is immutable and security definer, takes '
    '(variadic jsonb[]), returns jsonb, and may be called by wf_owner.';

-- wf.function_remove(p_name)
--
-- Removes a function that function_set added. Expressions that still call the function
-- fail with kind input.
--
-- Returns  nothing
-- Locks    the row of the function
-- Raises   WF003 if there is no such function, WF002 if it is built in
-- Called   by DBAs
create or replace function wf.function_remove(p_name text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from wf.function f where f.name = p_name and f.proc_name is null) then
        raise exception using errcode = 'WF002', message = format('function %s is built in', p_name),
            hint = 'Only functions that were added can be removed.';
    end if;
    delete from wf.function f where f.name = p_name;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no function %s', coalesce(left(p_name, 100), 'null')),
            hint = 'The functions are listed in wf.function_v.';
    end if;
    perform wf._audit('function remove', jsonb_build_object('function', p_name));
end;
$$;
comment on function wf.function_remove(text) is
    'Remove a function that was added to the expression language; expressions that still call it fail.';

create or replace view wf.function_v with (security_barrier = true) as
select f.name,
       f.topic,
       f.arguments,
       f.returns,
       f.meaning,
       f.schema_name,
       f.proc_name
  from wf.function f;
comment on view wf.function_v is 'The functions that expressions may call.';
select wf._inherit_comments('function_v', 'function') \gset
