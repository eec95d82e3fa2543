-- Tasks name secrets; where in a request they go stands beside its arguments.

alter table wf.node add column secrets jsonb;
comment on column wf.node.secrets is 'leaf: for each of its requests, where in the arguments the driver puts which secrets (docs/spec.md); null if there are none';
