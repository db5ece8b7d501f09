/** Everything that a process opened, closed again in reverse order: each within its time, even if others fail. */

export interface Closers {
  /**
   * Adds a resource to close: its `close` runs once, after those of all resources pushed later.
   * @param withinMs after which `close` counts as failed and the next one runs. Default 10 s
   */
  push(name: string, close: () => unknown, withinMs?: number): void;
  /**
   * Closes all, one after the other, and resolves when the last is closed. Every call returns the same promise.
   * @throws the error of the only failed close, or an AggregateError of several, after all have run
   */
  close(): Promise<void>;
}

const defaultWithinMs = 10_000;

interface Opened {
  readonly name: string;
  readonly close: () => unknown;
  readonly withinMs: number;
}

async function closeWithin({ name, close, withinMs }: Opened): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: not closed after ${withinMs / 1000} s`)), withinMs);
  });
  try {
    await Promise.race([new Promise((resolve) => resolve(close())), late]);
  } finally {
    clearTimeout(timer);
  }
}

export function createClosers(): Closers {
  const opened: Opened[] = [];
  let closing: Promise<void> | undefined;

  const closeAll = async () => {
    const failures: unknown[] = [];
    for (let next = opened.pop(); next !== undefined; next = opened.pop())
      await closeWithin(next).catch((error: unknown) => failures.push(error));
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1)
      throw new AggregateError(failures, failures.map((error) => (error as Error).message).join('; '));
  };

  return {
    push: (name, close, withinMs = defaultWithinMs) => void opened.push({ name, close, withinMs }),
    close: () => (closing ??= closeAll()),
  };
}
