-- The tables of the expression language: what a row is, and what its columns mean.

comment on table wf.operator is
    'An operator of the expression language: the first element of an array in a compiled expression.';
comment on column wf.operator.name is 'as written in the compiled tree';
comment on column wf.operator.symbol is 'as written in a workflow; used in messages';
comment on column wf.operator.first_operand is
    'where in the array its operands begin; what stands before them is not evaluated';
comment on column wf.operator.min_length is 'length of the shortest array allowed, the name included';
comment on column wf.operator.max_length is 'length of the longest array allowed; null: any';
comment on column wf.operator.meaning is 'the value of the operator, in words';

comment on table wf.function is 'A function that expressions may call.';
comment on column wf.function.name is 'name, as written in a workflow';
comment on column wf.function.topic is 'the group of functions that it belongs to; custom if a DBA added it';
comment on column wf.function.arguments is 'name and type of each argument; one whose type ends in ? may be left out';
comment on column wf.function.returns is 'type of its value';
comment on column wf.function.schema_name is 'schema of the SQL function behind it; null if it is built in';
comment on column wf.function.proc_name is 'name of the SQL function behind it; null if it is built in';
comment on column wf.function.meaning is 'the value of the function, in words';
