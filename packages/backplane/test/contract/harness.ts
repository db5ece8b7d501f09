/** The bus that an implementation brings to the suite, and the instances, listeners and waits of the suite. */
import type { Backplane, BackplaneOptions } from '../../src/backplane.ts';

/** One set of instances that reach each other and no others. */
export interface ContractBus {
  connect(name: string): Promise<Backplane>;
  /**
   * The instance vanishes like a killed process: it stops receiving and sending, and keeps its leases. Resolves when
   * other instances can notice.
   */
  kill(instance: string): Promise<void>;
  /** Everything stored is lost; instances and subscriptions stay. */
  flush(): Promise<void>;
  /** The instance can miss messages for a moment: cuts its receiving connections, and it reconnects by itself. */
  interrupt(instance: string): Promise<void>;
  /** Moves the clock of leases, histories and tickets. Without it they follow real time, and the suite waits. */
  advance?(ms: number): Promise<void>;
  /** Closes every instance that is still open. */
  close(): Promise<void>;
}

export type MakeBus = (options?: Partial<BackplaneOptions>) => Promise<ContractBus>;

/** Opens buses and closes every one of them: `afterEach(stage.clear)`. */
export interface Stage {
  open: MakeBus;
  /** A bus with two instances. */
  openTwo(this: void): Promise<{ bus: ContractBus; one: Backplane; two: Backplane }>;
  clear(this: void): Promise<void>;
}

export function createStage(makeBus: MakeBus): Stage {
  const buses: ContractBus[] = [];
  const open: MakeBus = async (options) => {
    const bus = await makeBus(options);
    buses.push(bus);
    return bus;
  };
  return {
    open,
    async openTwo() {
      const bus = await open();
      return { bus, one: await bus.connect('one'), two: await bus.connect('two') };
    },
    async clear() {
      await Promise.all(buses.splice(0).map((bus) => bus.close()));
    },
  };
}

/** A Redis cluster whose first election fails repeats it after eight seconds. */
const patienceMs = 30_000;
const pollMs = 5;

/** Waits until `isSo` holds. With a step, time passes during the wait: the clock moves by it, or runs by itself. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, step?: () => Promise<void>) {
  const deadline = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    await step?.();
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Time passes: moves the clock by `ms`, or does nothing if it runs by itself. */
export const passing = (bus: ContractBus, ms: number) => async () => {
  await bus.advance?.(ms);
};

/** Queues everything it receives, so that nothing is missed between two reads. */
export interface Ear<T> {
  readonly heard: readonly T[];
  add(this: void, said: T): void;
  /** The next one not asked for yet; waits for it. */
  next(): Promise<T>;
}

export function createEar<T>(): Ear<T> {
  const heard: T[] = [];
  let asked = 0;
  return {
    heard,
    add: (said) => void heard.push(said),
    async next() {
      const index = asked++;
      await until(`number ${index + 1} is heard`, () => heard.length > index);
      return heard[index] as T;
    },
  };
}

export const bodies = (frames: readonly { body: string }[]) => frames.map(({ body }) => body);

/** A promise that the test settles. */
export function createGate<T>(): { opened: Promise<T>; open(this: void, value: T): void } {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
}

/** The code of the error it rejects with; fails when it does not reject. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) throw new Error(`expected a rejection, got ${JSON.stringify(outcome.value)}`);
  const { error } = outcome;
  return error instanceof Error && 'code' in error ? error.code : error;
}
