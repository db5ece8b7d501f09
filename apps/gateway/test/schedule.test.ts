import { expect, it } from '@jest/globals';
import { type Job, Schedule } from '../src/fleet/schedule.ts';

const quiet = { warn: () => undefined } as unknown as ConstructorParameters<typeof Schedule>[0];

/** A job whose runs complete under the test's control. */
function heldJob() {
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => void ends.push(resolve));
  return { job: { name: 'held', ms: 1e9, jitter: 0, work } satisfies Job, ends };
}

it('a job that is asked for twenty times while it runs runs one more time', async () => {
  const schedule = new Schedule(quiet);
  const { job, ends } = heldJob();
  const asked = Array.from({ length: 20 }, () => schedule.run(job));
  expect(ends).toHaveLength(1);
  ends[0]!();
  await new Promise(setImmediate);
  expect(ends).toHaveLength(2);
  ends[1]!();
  await Promise.all(asked);
  expect(ends).toHaveLength(2);
  const later = schedule.run(job);
  expect(ends).toHaveLength(3);
  ends[2]!();
  await later;
});

it('a failing job counts as run, and a concurrent request still triggers a run', async () => {
  const schedule = new Schedule(quiet);
  let runs = 0;
  const job: Job = {
    ...heldJob().job,
    work: () => {
      runs += 1;
      return runs === 1 ? Promise.reject(new Error('no database')) : Promise.resolve();
    },
  };
  await Promise.all([schedule.run(job), schedule.run(job)]);
  expect(runs).toBe(2);
});

it('a stop waits for the run that is under way, and for no further one', async () => {
  const schedule = new Schedule(quiet);
  const { job, ends } = heldJob();
  void schedule.run(job);
  void schedule.run(job);
  let stopped = false;
  const stop = schedule.stop().then(() => (stopped = true));
  await new Promise(setImmediate);
  expect(stopped).toBe(false);
  ends[0]!();
  await stop;
  expect(ends).toHaveLength(1);
  await schedule.run(job);
  expect(ends).toHaveLength(1);
});
