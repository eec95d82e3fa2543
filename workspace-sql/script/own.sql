-- From here on the role is wf_owner, in a database with a workspace.

do $$
begin
    if not exists (select from pg_namespace n where n.nspname = 'wf' and pg_get_userbyid(n.nspowner) = 'wf_owner') then
        raise exception 'there is no workspace in database %', current_database()
            using errcode = 'WF003',
                  hint = 'Connect to the database in which it is installed, or install it with install.sql.';
    elsif not exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) then
        raise exception '% may not act for the owner of the workspace', current_user
            using errcode = 'WF008',
                  hint = format('Do it as a superuser, or first: alter role %I createrole', current_user);
    end if;
end;
$$;

\if :lent
    grant wf_owner to :"installer";
\endif
set local role wf_owner;
