/**
 * The live side of the pages: one stream per tab while a person is signed in. It never gives up; the pages interpret the frames.
 */
import { type AttentionItem, type AttentionStream, type Client, type ConnectionState, backoffMs } from '@relay/client';

export type LiveFrame = Exclude<AttentionItem, { type: 'connection' | 'unknown' }>;

export type LiveState =
  | { kind: 'off' }
  | { kind: 'connecting' }
  /** `resumed`: after an outage; the missed frames follow. */
  | { kind: 'live'; resumed: boolean }
  /** The next attempt is at this time. */
  | { kind: 'waiting'; untilMs: number };

export interface Live {
  readonly state: LiveState;
  subscribe: (listener: () => void) => () => void;
  /**
   * Every frame, in order. `resync` and, for sessions, `sessions_changed` mean that loaded data might be outdated and must be
   * loaded again.
   */
  onFrame: (listener: (frame: LiveFrame) => void) => () => void;
  /** Frames of the last seconds, oldest first: for a page that loads while they arrive. */
  recent: () => readonly LiveFrame[];
  start: () => void;
  stop: () => void;
  /** The token has changed. */
  refresh: () => void;
  /** The person looks at this session now. */
  focus: (sessionId: string) => void;
}

interface LiveDeps {
  client: Pick<Client, 'attention'>;
  /** The relay refused the credential: gets another one, or learns that no one is signed in. */
  renewAccess: () => Promise<unknown>;
  /** The position where the stream begins, so that the page reads nothing twice; empty if unknown. */
  position: () => Promise<string>;
}

function stateOf(connection: ConnectionState, isAgain: boolean): LiveState {
  if (connection.state === 'waiting') return { kind: 'waiting', untilMs: connection.untilMs };
  if (connection.state === 'connecting') return { kind: 'connecting' };
  return { kind: 'live', resumed: connection.resumed && isAgain };
}

const recentMs = 10_000;
const recentFrames = 200;

export function createLive({ client, renewAccess, position }: LiveDeps): Live {
  let state: LiveState = { kind: 'off' };
  let stream: AttentionStream | undefined;
  let running: AbortController | undefined;
  const listeners = new Set<() => void>();
  const frameListeners = new Set<(frame: LiveFrame) => void>();

  let recent: { atMs: number; frame: LiveFrame }[] = [];

  const deliver = (frame: LiveFrame) => {
    const atMs = Date.now();
    recent = [...recent, { atMs, frame }].filter((one) => one.atMs > atMs - recentMs).slice(-recentFrames);
    for (const listener of frameListeners) listener(frame);
  };
  const become = (next: LiveState) => {
    state = next;
    for (const listener of listeners) listener();
  };

  async function run(signal: AbortSignal): Promise<void> {
    let since = await position();
    let isAgain = false;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const current = client.attention({ since, events: ['output', 'transcript'], signal });
      stream = current;
      try {
        for await (const item of current) {
          if (item.type === 'connection') {
            become(stateOf(item, isAgain));
            if (item.state !== 'live') continue;
            failures = 0;
            isAgain = true;
          } else if (item.type !== 'unknown') deliver(item);
        }
      } catch {
        // The relay does not accept this credential: a new one might work, and signing out stops us.
        await renewAccess().catch(() => undefined);
      }
      since = current.offset;
      if (signal.aborted) return;
      const waitMs = backoffMs(failures, Math.random());
      become({ kind: 'waiting', untilMs: Date.now() + waitMs });
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  return {
    get state() {
      return state;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onFrame: (listener) => {
      frameListeners.add(listener);
      return () => frameListeners.delete(listener);
    },
    recent: () => recent.map(({ frame }) => frame),
    start: () => {
      if (running) return;
      running = new AbortController();
      void run(running.signal);
    },
    stop: () => {
      running?.abort();
      running = undefined;
      stream = undefined;
      recent = [];
      if (state.kind !== 'off') become({ kind: 'off' });
    },
    refresh: () => stream?.refresh(),
    focus: (sessionId) => stream?.focus(sessionId),
  };
}
