-- A call that waited while the workspace was upgraded says so.

insert into wf.error (code, name, meaning, remedy) values
    ('WF013', 'upgraded meanwhile', 'The call waited while the workspace was upgraded; nothing of it was done.', 'Do it again; a driver does so by itself.');

update wf.setting set meaning = 'version of this schema, see migrations/all.sql' where name = 'schema_version';
