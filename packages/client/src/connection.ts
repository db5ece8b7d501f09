/** One connection to `/ws/attention`: opens within a time limit, renews its credential, and detects a dead line. */
import { ClosedError, SignedOutError, TimeoutError } from './errors.ts';
import type { OpenSocket } from './socket.ts';
import type { Grant, Tokens } from './token.ts';

interface ConnectionWish {
  open: OpenSocket;
  tokens: Tokens;
  /** The token for opening. */
  grant: Grant | undefined;
  url: string;
  ticket: (signal: AbortSignal) => Promise<string>;
  onOpen: () => void;
  onText: (text: string) => void;
  /** Time limit for opening. */
  openTimeoutMs?: number | undefined;
  /** After this much silence the client sends a frame that the relay must answer, because browsers hide pings from pages. Absent: never. */
  silenceMs?: number | undefined;
}

export interface ConnectionEnd {
  error: Error;
  /** How long the connection was open; undefined if it never opened. */
  livedMs: number | undefined;
  hasReceived: boolean;
  /** The newest sent token. */
  token: string | undefined;
}

export interface Connection {
  readonly ended: Promise<ConnectionEnd>;
  /** Sends the newest token. The answer proves that the connection lives; after a wake the connection fails without an answer within 3 s. */
  refresh(): Promise<void>;
  /** Reports the shown session. Does nothing while the connection is not open. */
  focus(sessionId: string, visible: boolean): void;
  close(): void;
  pause(): void;
  resume(): void;
}

const defaultOpenTimeoutMs = 15_000;
const answerTimeoutMs = 10_000;
/** Used when the user returns to the page or the network is back: replaces a dead line soon. */
const wakeTimeoutMs = 3_000;
const lookAgainMs = 5_000;
/** A timer that fires this late shows that the machine slept. */
const sleptMs = 15_000;
/** A token is renewed when it expires within this time. */
const renewBeforeMs = 60_000;
/** The minimum validity requested for a renewed token. */
const renewedForMs = 90_000;
const renewAgainMs = 5000;
/** The longest possible timer: tokens of another issuer can live for months. */
const maxTimerMs = 2 ** 31 - 1;

export function connect({ open, tokens, url, ticket, onOpen, onText, ...wish }: ConnectionWish): Connection {
  let { grant } = wish;
  const { openTimeoutMs = defaultOpenTimeoutMs, silenceMs } = wish;
  let receivedAt = 0;
  let looking: ReturnType<typeof setInterval> | undefined;
  let openedAt: number | undefined;
  let hasReceived = false;
  let isOver = false;
  let isPaused = false;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  let answer: ReturnType<typeof setTimeout> | undefined;
  let resolve: (ending: ConnectionEnd) => void;
  const ended = new Promise<ConnectionEnd>((settle) => (resolve = settle));

  const end = (error: Error) => {
    if (isOver) return;
    isOver = true;
    for (const timer of [opening, renewal, answer, looking]) clearTimeout(timer);
    resolve({ error, livedMs: openedAt && performance.now() - openedAt, hasReceived, token: grant?.token });
  };
  const fail = (error: Error) => {
    end(error);
    socket.close();
  };
  const late = (what: string, afterMs: number) =>
    setTimeout(() => fail(new TimeoutError(`${what} within ${afterMs / 1000} s.`)), afterMs);

  const opening = late('No connection', openTimeoutMs);
  const socket = open(
    { url, token: grant?.token, ticket },
    {
      onOpen: () => {
        if (isOver) return;
        clearTimeout(opening);
        openedAt = performance.now();
        watch();
        scheduleRenewal();
        onOpen();
      },
      onText: (text) => {
        if (isOver) return;
        clearTimeout(answer);
        answer = undefined;
        receivedAt = Date.now();
        hasReceived = true;
        onText(text);
      },
      onEnd: end,
    },
  );

  const send = (fresh: Grant, withinMs = answerTimeoutMs) => {
    grant = fresh;
    socket.send(JSON.stringify({ type: 'auth', token: fresh.token }));
    clearTimeout(answer);
    // A paused reader receives no answer.
    if (!isPaused) answer = late('No answer on the connection', withinMs);
  };
  /** Uses the wall clock, which continues while a machine sleeps. */
  function watch(): void {
    receivedAt = Date.now();
    if (silenceMs === undefined) return;
    let lookedAt = receivedAt;
    looking = setInterval(() => {
      const now = Date.now();
      const slept = now - lookedAt > lookAgainMs + sleptMs;
      lookedAt = now;
      if (answer === undefined && grant && (slept || now - receivedAt >= silenceMs))
        send(grant, slept ? wakeTimeoutMs : answerTimeoutMs);
    }, lookAgainMs);
  }
  const renew = async () => {
    try {
      const fresh = await tokens.get({ minValidMs: renewedForMs });
      if (isOver) return;
      if (fresh && fresh.token !== grant?.token) send(fresh);
      scheduleRenewal();
    } catch (error) {
      if (error instanceof SignedOutError) fail(error);
      else scheduleRenewal(renewAgainMs);
    }
  };
  function scheduleRenewal(inMs?: number): void {
    if (isOver || !tokens.renewable || grant?.expiresAt === undefined) return;
    const leftMs = grant.expiresAt - Date.now();
    const waitMs = inMs ?? (leftMs > renewBeforeMs ? leftMs - renewBeforeMs : leftMs / 2);
    clearTimeout(renewal);
    renewal = setTimeout(() => void renew(), Math.min(Math.max(waitMs, 1000), maxTimerMs));
  }

  return {
    ended,
    async refresh() {
      const fresh = await tokens.get();
      if (isOver || openedAt === undefined || !fresh) return;
      send(fresh, wakeTimeoutMs);
      scheduleRenewal();
    },
    focus: (sessionId, visible) => {
      if (!isOver && openedAt !== undefined) socket.send(JSON.stringify({ type: 'focus', sessionId, visible }));
    },
    close: () => {
      if (openedAt === undefined) end(new ClosedError(1000, ''));
      socket.close();
    },
    pause: () => {
      if (!socket.pause) return;
      isPaused = true;
      clearTimeout(answer);
      socket.pause();
    },
    resume: () => {
      isPaused = false;
      socket.resume?.();
    },
  };
}
