/**
 * Resolves typed names to ids: devices by id, name or host name; sessions by the first or last characters of the agent's own id. Unique
 * abbreviations are enough. Ids that begin with a timestamp differ in their last characters.
 */
import {
  type Device,
  type Session,
  formatSessionId,
  isPlaceholder,
  parseSessionId,
  placeholderNativeId,
} from '@relay/protocol';
import { Failure } from '@relay/machine';
import { exitCodes } from './failure.ts';
import { type Relay, allSessions } from './relay.ts';

/** Up to this length an id is shown in full; a longer id is shortened to at least this many last characters. */
const wholeUpTo = 12;
const shortest = 8;
/** The name of a session before its device names it. It stays valid, but only in full, because no list contains it later. */
const placeholder = /^[0-9A-HJKMNP-TV-Z]{26}$/;

const startOf = (native: string) => (native.length <= wholeUpTo || placeholder.test(native) ? native.length : shortest);

/** Returns the part of a session id that distinguishes the sessions of a device. */
function nativeIdOf(sessionId: string): string {
  const nativeId = parseSessionId(sessionId)?.nativeId ?? sessionId;
  return isPlaceholder(nativeId) ? nativeId.slice(nativeId.indexOf('-') + 1) : nativeId;
}

/** Returns the display name of a session that is shown alone. */
export const nameOf = (sessionId: string): string => {
  const native = nativeIdOf(sessionId);
  return native.slice(-startOf(native));
};

/** Returns for each id its shortest unique suffix of 8 or more characters. */
export function shortNames(sessionIds: readonly string[]): Map<string, string> {
  const natives = sessionIds.map(nativeIdOf);
  return new Map(
    sessionIds.map((sessionId, index) => {
      const native = natives[index]!;
      let length = startOf(native);
      const isTaken = (ending: string) => natives.some((other, at) => at !== index && other.endsWith(ending));
      while (length < native.length && isTaken(native.slice(-length))) length += 1;
      return [sessionId, isTaken(native.slice(-length)) ? sessionId : native.slice(-length)];
    }),
  );
}

/** Returns the only match of the first question that matches anything. @throws Failure if it matches several things, or no question matches */
function only<T>(
  what: 'device' | 'session',
  typed: string,
  all: readonly T[],
  shown: (thing: T) => string,
  questions: readonly ((thing: T) => boolean)[],
): T {
  for (const question of questions) {
    const found = all.filter(question);
    if (found.length === 1) return found[0]!;
    if (found.length > 1) {
      const named = found.slice(0, 5).map(shown).join(', ');
      throw new Failure(
        'AMBIGUOUS',
        `"${typed}" matches ${found.length} ${what}s: ${named}${found.length > 5 ? ', …' : ''}. Type more of the id.`,
        exitCodes.usage,
      );
    }
  }
  const list = what === 'device' ? 'relay devices' : 'relay sessions --all';
  throw new Failure(
    what === 'device' ? 'DEVICE_NOT_FOUND' : 'SESSION_NOT_FOUND',
    `You have no ${what} "${typed}". "${list}" lists them.`,
    exitCodes.notFound,
  );
}

/** @throws Failure AMBIGUOUS, DEVICE_NOT_FOUND; the errors of calls */
export async function findDevice(relay: Relay, typed: string): Promise<Device> {
  const wanted = typed.trim().toLowerCase();
  const devices = wanted === '' ? [] : (await relay.call('listDevices')).devices;
  return only('device', typed, devices, ({ name, id }) => `${name} (${id})`, [
    ({ id }) => id === typed,
    ({ name }) => name.toLowerCase() === wanted,
    ({ hostname }) => hostname.toLowerCase() === wanted,
    ({ name }) => name.toLowerCase().startsWith(wanted),
    ({ hostname }) => hostname.toLowerCase().startsWith(wanted),
    ({ name }) => name.toLowerCase().includes(wanted),
    ({ id }) => id.toLowerCase().startsWith(wanted) || id.toLowerCase().endsWith(wanted),
  ]);
}

/**
 * Returns the id for calls. A full id is used as typed, because a session's earlier ids are valid too.
 * @throws Failure AMBIGUOUS, SESSION_NOT_FOUND; the errors of calls
 */
export async function findSessionId(relay: Relay, typed: string): Promise<string> {
  if (parseSessionId(typed)) return typed;
  const sessions = typed === '' ? [] : await allSessions(relay, { archived: 'all' });
  const shown = ({ id, title }: Session) => `${title} (${id})`;
  const natives = (test: (native: string) => boolean) => (session: Session) =>
    test(nativeIdOf(session.id)) || test(parseSessionId(session.id)?.nativeId ?? '');
  const questions = [
    natives((native) => native === typed),
    natives((native) => native.endsWith(typed) || native.startsWith(typed)),
    ({ id }: Session) => id.startsWith(typed),
  ];
  const earlier = sessions.some(questions[1]!) ? undefined : await findByPlaceholder(relay, typed);
  return earlier ?? only('session', typed, sessions, shown, questions).id;
}

/**
 * Returns the current session, from the list if possible: reading one session waits for its daemon's messages.
 * @throws Failure like `findSessionId`
 */
export async function findSession(relay: Relay, typed: string): Promise<Session> {
  const sessionId = await findSessionId(relay, typed);
  const sessions = await allSessions(relay, { archived: 'all' });
  return (
    sessions.find(({ id }) => id === sessionId) ??
    relay.call('readSession', { params: { id: sessionId }, query: { limit: 1 } })
  );
}

/** Finds the session by the name it had before its device named it. Any device can have had it. */
async function findByPlaceholder(relay: Relay, typed: string): Promise<string | undefined> {
  const ulid = typed.replace(/^PENDING-/, '');
  if (!placeholder.test(ulid)) return undefined;
  const { devices } = await relay.call('listDevices');
  const places = devices.flatMap(({ id, agents, agentType }) =>
    (agents ?? [{ agentType }]).map((agent) => ({ deviceId: id, agentType: agent.agentType })),
  );
  for (const place of places) {
    const sessionId = formatSessionId({ ...place, nativeId: placeholderNativeId(ulid) });
    try {
      return (await relay.call('readSession', { params: { id: sessionId }, query: { limit: 1 } })).id;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'SESSION_NOT_FOUND') throw error;
    }
  }
  return undefined;
}
