-- When a driver has gone, since its last sign of life may be much older.

alter table wf.driver add ended_at timestamptz;
update wf.driver d set ended_at = s.seen_at
  from wf.sign_of_life s
 where s.driver_id = d.id and d.state in ('left', 'lost');
