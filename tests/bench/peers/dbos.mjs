// dbos.mjs - DBOS: a durable workflow of three steps, from a queue
import { DBOS } from '@dbos-inc/dbos-sdk';
import { ended, numbers, pool, step, STEPS, waiting, WORKFLOWS } from './work.mjs';

const queue = { workerConcurrency: 200, minPollingIntervalMs: 10 };

async function three(workflow) {
  for (let k = 0; k < STEPS; k++) {
    await DBOS.runStep(async () => step(workflow, k), { name: `step_${k}` });
  }
}

DBOS.registerWorkflow(three, { name: 'three' });
DBOS.setConfig({
  name: 'bench',
  applicationVersion: '1',
  systemDatabasePool: pool(10),
  logLevel: 'error',
});
await DBOS.launch();

// Nobody listens to the queue before it is registered.
await Promise.all(
  numbers().map((k) =>
    DBOS.enqueueWorkflowWithOptions({ queueName: 'bench', workflowName: 'three' }, k),
  ),
);
await waiting();
await DBOS.registerQueue('bench', queue);
await ended(`(select count(*) from dbos.workflow_status where status = 'SUCCESS') = ${WORKFLOWS}
  and (select count(*) from dbos.operation_outputs) = ${STEPS * WORKFLOWS}`);
