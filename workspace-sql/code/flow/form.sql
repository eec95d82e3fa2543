-- The process forms, as rows: what each kind of node does when it begins and when
-- something in it ends. install copies the row of a node's kind into wf.node, so that no
-- move has to look here. docs/internals.md says how to add a form.

delete from wf.form;

insert into wf.form (kind, machine, scope, begins, ends, child_error, input, meaning) values
    ('sync', 'sync', 'none', 'nothing', 'outside', null, 'args', 'a task that one request does'),
    ('async', 'async', 'none', 'nothing', 'outside', null, 'args',
     'a task that is started by a request, and then runs outside'),
    ('wait', 'wait', 'none', 'nothing', 'outside', null, 'args', 'a task that waits inside the workspace'),
    ('child', 'child', 'none', 'nothing', 'outside', null, 'args',
     'a task that waits until another instance has ended, which it may start'),
    ('atomic', 'sync', 'none', 'nothing', 'outside', null, 'args',
     'calls of SQL tasks, as one task: their statements are one transaction'),
    ('call', 'composite', 'own', 'first', 'last', 'passes', 'args',
     'the steps of another workflow, which see its parameters only'),
    ('seq', 'composite', 'none', 'first', 'last', 'passes', null, 'its steps, one after another'),
    ('par', 'composite', 'none', 'all', 'all', 'passes', null, 'its branches, at the same time'),
    ('dag', 'composite', 'none', 'free', 'all', 'passes', null,
     'its steps, each as soon as those that it comes after have ended'),
    ('race', 'composite', 'child', 'all', 'first', 'leaves', null,
     'its branches, at the same time; the first that ends wins, and the others are stopped'),
    ('forall', 'composite', 'child', 'window', 'all', 'counts', 'in',
     'its body for each element of a list, some at the same time'),
    ('while', 'composite', 'child', 'round', 'while', 'passes', 'start',
     'its body, again and again as long as its condition holds'),
    ('repeat', 'composite', 'child', 'round', 'until', 'passes', null,
     'its body, again and again until its condition holds'),
    ('fold', 'composite', 'child', 'round', 'all', 'passes', 'over',
     'its body for one element of a list after another, with a state'),
    ('if', 'composite', 'none', 'chosen', 'all', 'passes', 'condition', 'one of two nodes, or nothing'),
    ('switch', 'composite', 'none', 'chosen', 'all', 'passes', 'on',
     'the first of its cases that has the value, or its default'),
    ('try', 'composite', 'none', 'body', 'all', 'takes', null,
     'its body; if that fails, one of its catches; at its end its finally'),
    ('catch', 'composite', 'none', 'first', 'last', 'passes', null, 'what is done with an error that it takes'),
    ('checkpoint', 'composite', 'none', 'nothing', 'checkpoint', null, 'only',
     'a point from which an instance can be replayed; with `only` it forgets those before'),
    ('finally', 'composite', 'none', 'first', 'last', 'passes', null, 'what is done as its try ends, however it ends'),
    ('undo', 'composite', 'child', 'first', 'last', 'passes', null,
     'what undoes a node that had ended well, when that is given up'),
    ('let', 'composite', 'none', 'nothing', 'value', null, 'value', 'a name for the value of an expression'),
    ('return', 'composite', 'none', 'nothing', 'return', null, 'value', 'the end of the call or workflow around it');
