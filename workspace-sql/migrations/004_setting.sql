-- Settings have ranges, and say who set them.

alter table wf.setting
    add column min bigint,
    add column max bigint,
    add column changed_at timestamptz,
    add column changed_by text;
comment on column wf.setting.meaning is 'what it does, and its unit';
comment on column wf.setting.min is 'the least value it may be set to; null: it is not for setting';
comment on column wf.setting.max is 'the greatest';
comment on column wf.setting.changed_at is 'when it was set; null: it is as it came';
comment on column wf.setting.changed_by is 'by whom';

update wf.setting s
   set min = n.min, max = n.max, meaning = n.meaning
  from (values ('lease_seconds', 5, 3600, 'seconds without a sign of life after which a driver is lost and its requests are taken back'),
               ('value_bytes', 1024, 134217728, 'largest value of a parameter, argument, output or name, in bytes of its text'),
               ('turns', 1, 256, 'how many polls and outcomes work at a time; the others are told to come back'),
               ('window', 1, 1000, 'most children that a forall has open at once')) n (name, min, max, meaning)
 where s.name = n.name;
