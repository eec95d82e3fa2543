-- A queue and nothing else: take 100, delete them. Both shapes are those that
-- perform best here.
with next as (
    select j.id from job j where j.driver is null order by j.id limit 100 for update skip locked)
update job j set driver = :client_id from next n where j.id = n.id;
delete from job j where j.driver = :client_id and j.id in (select k.id from job k where k.driver = :client_id limit 100);
