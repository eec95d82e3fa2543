-- What the trace id is for.

comment on column wf.instance.trace_id is 'begins the Idempotency-Key of its requests, and is the trace that they belong to';
