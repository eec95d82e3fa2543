-- Room for all that a row becomes, on its page: two drivers' turns overlap, and
-- what one has replaced the other may still see.

alter table wf.instance set (fillfactor = 50);
alter table wf.process set (fillfactor = 30);
