/**
 * The live side of the pages: one socket to `/ws/attention` per tab (contract §6). Comes back by itself, goes on where it was, and
 * renews its credential in band. What frames mean is the business of the pages.
 */
import type { AttentionFrame } from '@relay/protocol';
import type { Place } from '../place.ts';
import { backoffMs } from './backoff.ts';

export type LiveState =
  | { kind: 'off' }
  | { kind: 'connecting' }
  | { kind: 'live' }
  /** The next attempt is at this time. */
  | { kind: 'waiting'; untilMs: number };

export interface Live {
  readonly state: LiveState;
  subscribe: (listener: () => void) => () => void;
  /** Every frame, in order. `resync` and, of sessions, `sessions_changed` mean: what you have may be old, load it again. */
  onFrame: (listener: (frame: AttentionFrame) => void) => () => void;
  start: () => void;
  stop: () => void;
  /** A token for the socket that is open. The answer also proves that the socket lives: without one it is opened anew. */
  renew: (token: string) => void;
}

export interface LiveDeps {
  place: Place;
  ticket: () => Promise<string>;
  /** The credential was refused: gets another one, or finds out that nobody is signed in. */
  renewAccess: () => Promise<unknown>;
}

const openTimeoutMs = 10_000;
const answerTimeoutMs = 10_000;
/** Close codes of contract §7 that a new credential may heal. */
const credentialCodes = new Set([4401, 4403]);

function frameIn(data: unknown): AttentionFrame | undefined {
  try {
    const value = JSON.parse(String(data)) as { type?: unknown } | null;
    return typeof value?.type === 'string' ? (value as AttentionFrame) : undefined;
  } catch {
    return undefined;
  }
}

export function createLive({ place, ticket, renewAccess }: LiveDeps): Live {
  let state: LiveState = { kind: 'off' };
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let answerTimer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  /** Position in the history of this person; empty: from now on. */
  let offset = '';
  /** Whoever awaited something for an older run must not touch the newer one. */
  let run = 0;
  const listeners = new Set<() => void>();
  const frameListeners = new Set<(frame: AttentionFrame) => void>();

  const become = (next: LiveState) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const tell = (frame: AttentionFrame) => {
    for (const listener of frameListeners) listener(frame);
  };

  const retry = () => {
    const waitMs = backoffMs(attempt++, Math.random());
    become({ kind: 'waiting', untilMs: Date.now() + waitMs });
    timer = setTimeout(() => void connect(), waitMs);
  };

  async function connect(): Promise<void> {
    clearTimeout(timer);
    const mine = ++run;
    become({ kind: 'connecting' });
    let credential: string;
    try {
      credential = await ticket();
    } catch {
      // Signed out stops us; everything else passes.
      if (mine === run && state.kind !== 'off') retry();
      return;
    }
    if (mine !== run) return;
    const params = new URLSearchParams({ ticket: credential, since: offset, events: 'output' });
    open(new WebSocket(`${place.publicUrl.replace(/^http/, 'ws')}/ws/attention?${params.toString()}`), mine);
  }

  function open(opening: WebSocket, mine: number): void {
    socket = opening;
    timer = setTimeout(() => opening.close(), openTimeoutMs);
    const isFromNow = offset === '';
    opening.onopen = () => {
      clearTimeout(timer);
      if (mine !== run) return;
      attempt = 0;
      become({ kind: 'live' });
      // Without a position to go on from, nobody tells what was said before this. Pages do not wait for the socket: what listens
      // here was read before it was open, and what is read later needs no second look.
      if (isFromNow) tell({ type: 'resync' });
    };
    opening.onmessage = ({ data }) => {
      clearTimeout(answerTimer);
      const frame = mine === run ? frameIn(data) : undefined;
      if (!frame) return;
      if ('offset' in frame && typeof frame.offset === 'string') offset = frame.offset;
      tell(frame);
    };
    opening.onclose = ({ code }) => {
      if (mine !== run) return;
      clearTimeout(timer);
      clearTimeout(answerTimer);
      socket = undefined;
      if (credentialCodes.has(code)) void renewAccess().then(again, again);
      else retry();
    };
    const again = () => {
      if (mine === run) retry();
    };
  }

  const stop = () => {
    run += 1;
    clearTimeout(timer);
    clearTimeout(answerTimer);
    const closing = socket;
    socket = undefined;
    offset = '';
    attempt = 0;
    if (state.kind !== 'off') become({ kind: 'off' });
    closing?.close(1000);
  };

  // What the browser knows about the network saves waiting for a socket that is dead already.
  const comeBack = () => {
    if (state.kind === 'waiting') void connect();
  };
  const lost = () => socket?.close();

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
    start: () => {
      if (state.kind !== 'off') return;
      window.addEventListener('online', comeBack);
      window.addEventListener('offline', lost);
      void connect();
    },
    stop: () => {
      window.removeEventListener('online', comeBack);
      window.removeEventListener('offline', lost);
      stop();
    },
    renew: (token) => {
      const asked = socket;
      if (asked?.readyState !== WebSocket.OPEN) return;
      asked.send(JSON.stringify({ type: 'auth', token }));
      clearTimeout(answerTimer);
      answerTimer = setTimeout(() => asked.close(), answerTimeoutMs);
    },
  };
}
