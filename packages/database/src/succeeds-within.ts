/** A clock for waits whose failure does not matter more than their lateness. */

/** Whether `work` succeeds in that time. Otherwise `work` goes on unobserved. Never rejects. */
export async function succeedsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const clock = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  const done = work.then(
    () => true,
    () => false,
  );
  const ok = await Promise.race([done, clock]);
  clearTimeout(timer);
  return ok;
}
