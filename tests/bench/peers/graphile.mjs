// graphile.mjs - graphile-worker: three jobs, each of which adds the next one
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { ended, numbers, pool, step, STEPS, waiting } from './work.mjs';

// its documentation's, for the most jobs per second
const preset = {
  worker: {
    pgPool: pool(25),
    concurrentJobs: 24,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger: new Logger(() => () => {}),
  },
};

async function three({ workflow, k }, { addJob }) {
  step(workflow, k);
  if (k + 1 < STEPS) await addJob('three', { workflow, k: k + 1 });
}

const utils = await makeWorkerUtils({ preset });
await utils.migrate();
await utils.addJobs(
  numbers().map((workflow) => ({ identifier: 'three', payload: { workflow, k: 0 } })),
);
await waiting();
await run({ preset, taskList: { three } });
await ended('not exists (select from graphile_worker.jobs)');
