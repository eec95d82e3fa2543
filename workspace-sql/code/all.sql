-- Behaviour: functions, triggers and views. Installation runs this file once,
-- every upgrade runs it again.
--
-- Each folder is a room. A room uses the rooms above it, and flow and task use each other:
-- the steps that follow from a move decide which requests drivers see. time uses both, and
-- both use time.

\ir pins.sql

-- who calls, when, in what kind of transaction
\ir base/tables.sql
\ir base/comment.sql
\ir base/error.sql
\ir base/clock.sql
\ir base/session.sql
\ir base/audit.sql
\ir base/setting.sql

-- expressions; they know nothing of processes
\ir language/tables.sql
\ir language/catalog.sql
\ir language/budget.sql
\ir language/type.sql
\ir language/operator.sql
\ir language/regex.sql
\ir language/path.sql
\ir language/function_text.sql
\ir language/function_list.sql
\ir language/function_value.sql
\ir language/function.sql
\ir language/expression.sql
\ir language/syntax.sql
\ir language/fault.sql

-- definitions; they know nothing of instances
\ir definition/tables.sql
\ir definition/transport.sql
\ir definition/lane.sql
\ir definition/group.sql
\ir definition/retry.sql
\ir definition/timeout.sql
\ir definition/constant.sql
\ir definition/policy.sql
\ir definition/secret.sql
\ir definition/spec.sql
\ir definition/share.sql
\ir definition/spec_http.sql
\ir definition/spec_check.sql
\ir definition/spec_code.sql
\ir definition/atomic.sql
\ir definition/dag.sql
\ir definition/node.sql
\ir definition/install.sql

-- the semantics: what follows from a move
\ir flow/tables.sql
\ir flow/transition.sql
\ir flow/form.sql
\ir flow/move.sql
\ir flow/machine.sql
\ir flow/history.sql
\ir flow/binding.sql
\ir flow/limit.sql
\ir flow/compose.sql
\ir flow/pending.sql
\ir flow/loop.sql
\ir flow/forall.sql
\ir flow/dag.sql
\ir flow/again.sql
\ir flow/teardown.sql
\ir flow/handler.sql
\ir flow/given_up.sql
\ir flow/failure.sql
\ir flow/finally.sql
\ir flow/undo.sql
\ir flow/label.sql
\ir flow/quota.sql
\ir flow/key.sql
\ir flow/start.sql

-- schedules, which start instances; time uses task, and task uses time
\ir time/tables.sql
\ir time/cron.sql
\ir time/schedule.sql
\ir time/policy.sql

-- what drivers see
\ir task/tables.sql
\ir task/offer.sql
\ir task/park.sql
\ir task/wait.sql
\ir task/input.sql
\ir task/signal.sql
\ir task/child.sql
\ir task/listener.sql
\ir task/release.sql
\ir task/stream.sql
\ir task/verdict.sql
\ir task/outcome.sql
\ir task/retention.sql
\ir task/work.sql
\ir task/retry.sql
\ir task/timeout.sql
\ir task/timer.sql
\ir task/lane.sql
\ir task/version.sql
\ir task/group.sql
\ir task/rate.sql
\ir task/queue.sql
\ir task/poll.sql
\ir task/restore.sql
\ir task/loss.sql
\ir task/grant.sql
\ir task/driver.sql
\ir task/counter.sql
\ir task/sql_grant.sql
\ir task/sql_task.sql

-- what applications do
\ir outside/quota.sql
\ir outside/start.sql
\ir outside/signal.sql
\ir outside/callback.sql
\ir outside/schedule.sql
\ir outside/result.sql
\ir outside/answer.sql

-- what operators do
\ir operate/tables.sql
\ir operate/purge.sql
\ir operate/target.sql
\ir operate/operate.sql
\ir operate/abort.sql
\ir operate/suspend.sql
\ir operate/preview.sql
\ir operate/dry_run.sql
\ir operate/engine.sql

-- what viewers see
\ir look/progress.sql
\ir look/wait.sql
\ir look/view.sql
\ir look/list.sql
\ir look/tree.sql
\ir look/gantt.sql
\ir look/graph.sql
\ir look/place.sql
\ir look/say.sql
\ir look/reason.sql
\ir look/note.sql
\ir look/explain.sql
\ir look/stuck.sql
\ir look/kind.sql
\ir look/audit.sql
\ir look/fsck_instance.sql
\ir look/fsck.sql

-- what authors try out
\ir simulate/simulate_script.sql
\ir simulate/simulate.sql
