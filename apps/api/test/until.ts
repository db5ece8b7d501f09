import type { TestRelay } from '@relay/testing';

/** Waits for a condition without an event; fails after 40 s with the name of the condition. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 40_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    // Each look costs several milliseconds of a core.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits for a state of a task of alice, and returns the task. */
export async function untilTask({ call }: TestRelay, id: string, state: string) {
  const read = async () => (await call('readTask', { params: { id } })).body;
  let task = await read();
  await until(`the task is ${state}`, async () => task.state === state || (task = await read()).state === state);
  return task;
}
