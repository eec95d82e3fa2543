-- A quota bounds how many processes an instance may come to.

alter table wf.quota add processes int;
alter table wf.extent add quota int;
