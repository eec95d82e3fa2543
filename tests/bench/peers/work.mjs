// work.mjs - what each peer is given to do: so many workflows of three steps,
// each of which is counted and does nothing else. PGHOST and PGDATABASE say
// where.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export const WORKFLOWS = Number(process.argv[2]);
export const STEPS = 3;

const done = new Uint8Array(WORKFLOWS * STEPS);
let left = done.length;
let begun;

export function pool(max) {
  return new pg.Pool({ max });
}

// numbers(): of the workflows, from 0.
export function numbers() {
  return Array.from({ length: WORKFLOWS }, (_, k) => k);
}

// waiting(): all workflows are in the queue; no plan shall be of empty tables.
export async function waiting() {
  const client = pool(1);
  await client.query('vacuum analyze');
  await client.end();
}

// step(WORKFLOW, K): carry out its K-th step, from 0. The clock runs from the
// first step of all, so that nobody pays for starting up.
export function step(workflow, k) {
  begun ??= performance.now();
  left -= done[workflow * STEPS + k]++ === 0 ? 1 : 0;
}

// ended(QUERY): wait until each step has been carried out and the query, about
// the peer's own tables, says true: print the seconds, and leave.
export async function ended(query) {
  const looker = pool(1);
  while (left > 0) await sleep(2);
  while (!(await looker.query(`select (${query}) as ended`)).rows[0].ended) await sleep(2);
  const seconds = (performance.now() - begun) / 1000;
  const twice = done.filter((times) => times !== 1).length;
  if (twice > 0) throw new Error(`${twice} of ${done.length} steps were not carried out once`);
  console.log(seconds.toFixed(6));
  process.exit();
}
