/** Signals that interrupt a command. */

/**
 * Passes `work` a signal that aborts on the first SIGINT or SIGTERM; the second one kills the process as usual. For commands that
 * wait, so that they exit in order.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const release = () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
  const onSignal = () => {
    release();
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await work(controller.signal);
  } finally {
    release();
  }
}

/** Runs `work` to completion: a signal that arrives during it takes effect afterwards. */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
  let came: NodeJS.Signals | undefined;
  const remember = (signal: NodeJS.Signals) => (came = signal);
  // A command that handles the signal itself exits in order.
  const deaf = (['SIGINT', 'SIGTERM'] as const).filter((signal) => process.listenerCount(signal) === 0);
  for (const signal of deaf) process.on(signal, remember);
  try {
    return await work();
  } finally {
    for (const signal of deaf) process.off(signal, remember);
    if (came) process.kill(process.pid, came);
  }
}
