-- Each firing writes the row of its schedule anew. As JSON, the times of a cron expression
-- took up to 2 kB of it; as the text of a wf.cron they take a quarter of that.

alter table wf.schedule
    alter column times type text
    using case when times is not null then
        format('("%s","%s","%s","%s","%s","%s",%s,%s)',
               translate(times ->> 'seconds', '[] ', '{}'), translate(times ->> 'minutes', '[] ', '{}'),
               translate(times ->> 'hours', '[] ', '{}'), translate(times ->> 'days', '[] ', '{}'),
               translate(times ->> 'months', '[] ', '{}'), translate(times ->> 'weekdays', '[] ', '{}'),
               times ->> 'either', times ->> 'passing') end;
