-- Behaviour: functions, triggers and views, in the order in which they are
-- created. Installation runs this file once, every upgrade again.

\ir pins.sql

-- who, when, in what kind of transaction
\ir clock.sql
\ir session.sql

-- expressions
\ir type.sql
\ir operator.sql
\ir function_text.sql
\ir function_list.sql
\ir function_value.sql
\ir function.sql
\ir expression.sql
\ir syntax.sql

-- definitions
\ir lane.sql
\ir group.sql
\ir constant.sql
\ir secret.sql
\ir spec.sql
\ir spec_check.sql
\ir install.sql

-- the engine
\ir machine.sql
\ir compose.sql
\ir task.sql
\ir output.sql
\ir outcome.sql
\ir timer.sql
\ir poll.sql
\ir home.sql
\ir purge.sql
\ir loss.sql
\ir driver.sql
\ir transaction.sql
\ir start.sql

-- operators
\ir target.sql
\ir operate.sql
\ir abort.sql
\ir suspend.sql
\ir change.sql
\ir engine.sql
\ir setting.sql

-- viewers
\ir view.sql
\ir list.sql
\ir tree.sql
\ir graph.sql
\ir explain.sql
\ir stuck.sql
\ir fsck.sql

-- authors
\ir simulate_script.sql
\ir simulate.sql
