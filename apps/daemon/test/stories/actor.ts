/** The agent that plays a story, and the clock of its daemon. */
import type { Clock } from '@relay/daemon-kit';
import type { AcpOptions } from '../../src/agents/acp/options.ts';
import type { Step } from './story.ts';

type StartProcess = NonNullable<AcpOptions['startProcess']>;
type ProcessOptions = Parameters<StartProcess>[0];
export type Update = Record<string, unknown>;

export interface Playing {
  process: ProcessOptions;
  cancel: () => void;
  fail: () => void;
}

/** A clock that advances only when a test moves it. */
export function stillClock(start: number) {
  let now = start;
  let due: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(delayMs: number, run: () => void) {
      const entry = { at: now + delayMs, run };
      due.push(entry);
      return () => void (due = due.filter((other) => other !== entry));
    },
    advance(ms: number) {
      const end = now + ms;
      for (;;) {
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        due = due.filter((entry) => entry !== next);
        now = next.at;
        next.run();
      }
      now = end;
    },
  } satisfies Clock & Record<string, unknown>;
}

export const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
export const quietMs = 2000;
const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

/** The processes in one lifetime of a daemon. `play`: the steps of a message. */
export function createActor({
  play,
  sessionId,
  isDead,
}: {
  play: (process: Playing) => Promise<Update>;
  /** The id of the next session. */
  sessionId: () => string;
  isDead: () => boolean;
}) {
  let playing: Playing | undefined;
  const startProcess: StartProcess = (process) => {
    let end: (how: string) => void = () => undefined;
    let usable = true;
    const gone = new Promise<string>((resolve) => (end = resolve));
    const mine: Playing = { process, cancel: () => undefined, fail: () => undefined };
    const leave = () => {
      usable = false;
      mine.fail();
      end('The agent ended with exit code 0.');
      return Promise.resolve();
    };
    return {
      pid: undefined,
      ready: Promise.resolve({
        load: true,
        resume: true,
        list: false,
        images: false,
        steer: false,
        name: 'story',
        version: '1',
      }),
      usable: () => usable && !isDead(),
      request(method) {
        if (method === 'session/new') return Promise.resolve({ sessionId: sessionId() });
        if (method !== 'session/prompt') return Promise.resolve({});
        playing = mine;
        return new Promise((resolve, reject) => {
          mine.cancel = () => resolve({ stopReason: 'cancelled' });
          mine.fail = () => {
            usable = false;
            reject(new Error('The agent ended with exit code 1.'));
            end('The agent ended with exit code 1.');
          };
          void play(mine).then(resolve);
        });
      },
      notify(method) {
        if (method === 'session/cancel') mine.cancel();
      },
      gone,
      end: leave,
      kill: leave,
      abort: () => void leave(),
    };
  };
  return { startProcess, playing: () => playing };
}

/** Performs steps in a session. Returns the agent's response if they complete the turn. */
export async function perform(
  steps: readonly Step[],
  playing: Playing,
  {
    sessionId,
    through,
    on,
  }: {
    sessionId: string;
    through: (step: Step) => Step[];
    on: { cancel: () => void; kill: () => void; quiet: () => void };
  },
): Promise<Update | undefined> {
  const never = () => new Promise<undefined>(() => undefined);
  for (const step of steps.flatMap(through))
    switch (step.do) {
      case 'update':
        playing.process.onUpdate(sessionId, step.update);
        break;
      case 'ask':
        await playing.process.onPermission({ sessionId, toolCall: step.call, options }, new AbortController().signal);
        break;
      case 'form':
        await playing.process.onForm({ sessionId, ...step.request }, new AbortController().signal);
        break;
      case 'end':
        return { stopReason: step.how };
      case 'die':
        playing.fail();
        return never();
      case 'cancel':
        on.cancel();
        return never();
      case 'kill':
        on.kill();
        return never();
      case 'quiet':
        on.quiet();
    }
  return undefined;
}
