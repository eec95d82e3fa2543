-- Streamed output of attempts.

create table wf.output_chunk (
    instance_id bigint not null,
    process_id  bigint not null,
    attempt     int not null,
    start       bigint not null,
    size        bigint not null,
    stream      text not null check (stream in ('stdout', 'stderr')),
    at          timestamptz not null,
    body        text not null,
    primary key (instance_id, process_id, attempt, start)
);
comment on table wf.output_chunk is 'Streamed output of attempts, as it came; of a long one the end. Kept when the task has ended.';
comment on column wf.output_chunk.instance_id is 'the instance';
comment on column wf.output_chunk.process_id is 'the task';
comment on column wf.output_chunk.attempt is 'the attempt';
comment on column wf.output_chunk.start is 'how many bytes of the attempt''s output, both streams together, came before; where the chunk before does not end here, bytes were dropped';
comment on column wf.output_chunk.size is 'how many bytes these were';
comment on column wf.output_chunk.stream is 'stdout or stderr';
comment on column wf.output_chunk.at is 'when it arrived';
comment on column wf.output_chunk.body is 'the text; bytes that are none became U+FFFD';

insert into wf.setting (name, value, meaning, min, max) values
    ('output_bytes', '1048576', 'how much streamed output of an attempt is kept, in bytes', 1024, 1073741824);
