/**
 * The state of the sign-in and its access token: in memory, renewed before it expires, one request at a time. Nothing is
 * ever stored; the browser's own sign-in is a cookie that no script can read.
 */
import { Refusal, refusalOf } from '../api/refusal.ts';
import type { Token } from './sign-in-flow.ts';

export type AccessState =
  | { kind: 'opening' }
  | { kind: 'in' }
  /** `ended` is true if a person was signed in here until now. */
  | { kind: 'out'; ended: boolean }
  /** It could not be found out; `open` tries again. */
  | { kind: 'trouble'; refusal: Refusal };

export interface Access {
  readonly state: AccessState;
  /** Identifies the person to this browser; undefined if signed out. */
  readonly person: string | undefined;
  subscribe: (listener: () => void) => () => void;
  /** Finds out whether a person is signed in. Never rejects; the state has the result. */
  open: () => Promise<void>;
  /** A token that is good for a while. @throws Refusal UNAUTHORIZED when no one is signed in; the failure of the request otherwise */
  bearer: () => Promise<string>;
  /** Another token than `refused`; the current one if another caller has renewed it already. @throws as `bearer` */
  renew: (refused?: string) => Promise<string>;
  /** Calls the listener with every new token. */
  onToken: (listener: (token: string) => void) => () => void;
  /**
   * For work that replaces the browser's sign-in: token requests wait until it finishes, because the relay revokes the old
   * sign-in before this browser has the new one. Afterwards a new token is ready. @throws the errors of `work`
   */
  during: <T>(work: () => Promise<T>) => Promise<T>;
  /** Work that must still be done as this person: `leave` waits for it. Returns a function that withdraws it. */
  beforeLeaving: (settle: () => Promise<void>) => () => void;
  /**
   * For work that signs the browser out: afterwards the state is signed out. @throws the errors of `work`; then nothing has
   * changed
   */
  leave: (work: () => Promise<unknown>) => Promise<void>;
}

interface AccessDeps {
  fetchToken: () => Promise<Token | undefined>;
  /** The browser is now signed in as another person: the pages must drop everything of the previous one. */
  onOtherPerson: () => void;
  /** The person has signed out here. */
  onLeft?: () => void;
}

const renewBeforeMs = 60_000;
const usableForMs = 10_000;
const retryMs = 15_000;

/** Only to notice that the person changed; the relay decides who it is. */
function subjectOf(token: string): string {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    return String((JSON.parse(atob(payload)) as { sub?: unknown }).sub);
  } catch {
    return '';
  }
}

export function createAccess({ fetchToken, onOtherPerson, onLeft }: AccessDeps): Access {
  let state: AccessState = { kind: 'opening' };
  let token: Token | undefined;
  let subject: string | undefined;
  let pending: Promise<string> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listeners = new Set<() => void>();
  const tokenListeners = new Set<(token: string) => void>();
  const unsettled = new Set<() => Promise<void>>();
  /** Work that renewals wait for. */
  let held: Promise<unknown> = Promise.resolve();

  const become = (next: AccessState) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const renewIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void renew(token?.text).catch(() => token && renewIn(retryMs)), Math.max(0, ms));
  };
  const beOut = (ended: boolean) => {
    clearTimeout(timer);
    token = undefined;
    subject = undefined;
    become({ kind: 'out', ended });
  };

  const fetchAndKeep = async (): Promise<string> => {
    await held;
    if (state.kind === 'out') throw new Refusal('UNAUTHORIZED', '', 401);
    let fresh: Token | undefined;
    try {
      fresh = await fetchToken();
    } catch (error) {
      // A person who is signed in stays so: the network failed, not the sign-in.
      if (state.kind !== 'in') {
        const refusal = refusalOf(error);
        become({ kind: 'trouble', refusal });
        if (refusal.retryAfterSeconds !== undefined) renewIn(refusal.retryAfterSeconds * 1000);
      }
      throw error;
    }
    if (!fresh) {
      beOut(state.kind === 'in');
      throw new Refusal('UNAUTHORIZED', '', 401);
    }
    const person = subjectOf(fresh.text);
    if (subject !== undefined && subject !== person) onOtherPerson();
    subject = person;
    token = fresh;
    renewIn(fresh.expiresAtMs - Date.now() - renewBeforeMs);
    for (const listener of tokenListeners) listener(fresh.text);
    if (state.kind !== 'in') become({ kind: 'in' });
    return fresh.text;
  };

  const renew = (refused?: string): Promise<string> => {
    if (token && refused !== undefined && token.text !== refused) return Promise.resolve(token.text);
    return (pending ??= fetchAndKeep().finally(() => (pending = undefined)));
  };

  const hold = <T>(running: Promise<T>): Promise<T> => {
    held = running.catch(() => undefined);
    return running;
  };

  return {
    get state() {
      return state;
    },
    get person() {
      return subject;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onToken: (listener) => {
      tokenListeners.add(listener);
      return () => tokenListeners.delete(listener);
    },
    open: async () => {
      if (state.kind !== 'in') become({ kind: 'opening' });
      await renew().catch(() => undefined);
    },
    bearer: () =>
      token && token.expiresAtMs - Date.now() > usableForMs ? Promise.resolve(token.text) : renew(token?.text),
    renew,
    during: async (work) => {
      const result = await hold(work());
      await renew(token?.text).catch(() => undefined);
      return result;
    },
    beforeLeaving: (settle) => {
      unsettled.add(settle);
      return () => unsettled.delete(settle);
    },
    leave: async (work) => {
      // Before renewals are held: it can need one.
      for (const settle of unsettled) await settle();
      await hold(
        work().then(() => {
          onLeft?.();
          beOut(false);
        }),
      );
    },
  };
}
