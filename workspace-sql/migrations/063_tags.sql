-- A workflow may give tags to its instances.

alter table wf.version add tags jsonb;
