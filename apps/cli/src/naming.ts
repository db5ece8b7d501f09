/**
 * Turns typed names into ids: devices by id, name or host name; sessions by the end or the beginning of the id that the agent gave
 * them; all of them abbreviated as long as only one is meant. Ids that begin with their time end in what tells them apart.
 */
import {
  type Device,
  type Session,
  formatSessionId,
  isPlaceholder,
  parseSessionId,
  placeholderNativeId,
} from '@relay/protocol';
import { Failure, exitCodes } from './failure.ts';
import { type Relay, allSessions } from './relay.ts';

/** An id up to this long is shown as it is; of a longer one this many characters of its end, or more. */
const wholeUpTo = 12;
const shortest = 8;
/** Name of a session before its device names it. It stays valid afterwards, but only in full: no list contains it then. */
const placeholder = /^[0-9A-HJKMNP-TV-Z]{26}$/;

const startOf = (native: string) => (native.length <= wholeUpTo || placeholder.test(native) ? native.length : shortest);

/** The part of a session id that tells sessions of a device apart. */
function nativeIdOf(sessionId: string): string {
  const nativeId = parseSessionId(sessionId)?.nativeId ?? sessionId;
  return isPlaceholder(nativeId) ? nativeId.slice(nativeId.indexOf('-') + 1) : nativeId;
}

/** How a session is called in what people read, when no others are near. */
export const nameOf = (sessionId: string): string => {
  const native = nativeIdOf(sessionId);
  return native.slice(-startOf(native));
};

/** For each id the shortest ending (8 characters or more) that no other one of them has. */
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

/** The first of these questions that anything answers; a Failure when several things do, or nothing does. */
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

/** @throws Failure AMBIGUOUS, DEVICE_NOT_FOUND; those of calls */
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
 * The id to use in calls. A whole id is taken as it is, so that an id a session had earlier finds it as well.
 * @throws Failure AMBIGUOUS, SESSION_NOT_FOUND; those of calls
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
 * The session as it is now. From the list where it can be: reading one session asks its daemon for messages, and waits for it.
 * @throws Failure as `findSessionId`
 */
export async function findSession(relay: Relay, typed: string): Promise<Session> {
  const sessionId = await findSessionId(relay, typed);
  const sessions = await allSessions(relay, { archived: 'all' });
  return (
    sessions.find(({ id }) => id === sessionId) ??
    relay.call('readSession', { params: { id: sessionId }, query: { limit: 1 } })
  );
}

/** The session that was called like this before its device named it: every device may have had it. */
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
