// pg_boss.mjs - pg-boss: three queues, and jobs passed on by the thousand
import PgBoss from 'pg-boss';
import { setTimeout as sleep } from 'node:timers/promises';
import { ended, numbers, step, STEPS, waiting, WORKFLOWS } from './work.mjs';

const batchSize = 1000;

// Take jobs, carry them out, add those of the next queue, complete them: each
// for the whole batch, nothing together.
async function worker(k) {
  for (;;) {
    const jobs = await boss.fetch(`step_${k}`, { batchSize });
    if (jobs.length === 0) {
      await sleep(2);
      continue;
    }
    for (const { data } of jobs) step(data.workflow, k);
    if (k + 1 < STEPS) await boss.insert(jobs.map(({ data }) => ({ name: `step_${k + 1}`, data })));
    await boss.complete(`step_${k}`, jobs.map(({ id }) => id));
  }
}

const boss = new PgBoss({ max: 10, supervise: false, schedule: false });
boss.on('error', (error) => {
  throw error;
});
await boss.start();
for (let k = 0; k < STEPS; k++) await boss.createQueue(`step_${k}`);
await boss.insert(numbers().map((workflow) => ({ name: 'step_0', data: { workflow } })));

await waiting();
for (let k = 0; k < STEPS; k++) worker(k);
await ended(`select count(*) = ${STEPS * WORKFLOWS} from pgboss.job where state = 'completed'`);
