/** Records each request that changes something for a person, with its outcome (rules, 8.20). */
import { addAuditEntry } from '@relay/database';
import type { Scope, UserPrincipal } from '@relay/auth';
import type { Route, RouteName } from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';
import { addressOf } from './address.ts';
import type { Answering } from './asking.ts';
import { requireScope } from './authenticate.ts';
import { toRelayError } from './errors.ts';

/** The part of an entry that only the handler knows. */
export interface AuditNote {
  /** The person, where no access token names one. */
  userId?: string;
  program?: string;
  target?: string;
  question?: string;
  digest?: string | undefined;
  /** When a message was to reach the agent, if the request chose. */
  deliver?: string;
  /** The setting that was changed, and its value; the size of a file; the program that had a session open. */
  setting?: string;
}

/** Routes that change nothing a person would look for later: read marks, a credential for one socket, or pieces of a file that has an entry. */
const unrecorded: ReadonlySet<RouteName> = new Set<RouteName>([
  'createTicket',
  'markRead',
  'markUnread',
  'pingDevice',
  'pollCode',
  'readCode',
  'sendPiece',
]);

/** Whether requests of the route are recorded; `requestCode` only where a registration key names a person. */
export const isRecorded = (name: RouteName, { method }: Route): boolean => method !== 'GET' && !unrecorded.has(name);

/** Addresses beside the routes, by the action of their entries. */
type Door = 'mcp' | 'acp' | 'attention';

interface Done {
  name: RouteName | Door;
  request: Parameters<typeof addressOf>[0];
  /** Absent for an upgrade. */
  response?: Answering;
  /** Taken from the access token. */
  actor: { userId?: string | undefined; program?: string | undefined };
  params: Readonly<Record<string, unknown>>;
  note: AuditNote;
}

/** Refusals that come before anything is looked for. */
const beforeLooking: ReadonlySet<string> = new Set([
  'INVALID_IMAGE',
  'INVALID_REQUEST',
  'PAYLOAD_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'TOKEN_REVOKED',
  'UNSUPPORTED_MEDIA_TYPE',
]);

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

type Deps = Pick<ApiDeps, 'database' | 'logger'>;

/** A failure to write is logged and changes nothing. */
async function write({ database, logger }: Deps, done: Done, outcome: string, body?: unknown): Promise<void> {
  const { name, request, response, actor, params, note } = done;
  const userId = note.userId ?? (name === 'requestCode' ? undefined : actor.userId);
  if (userId === undefined) return;
  // A name that leads to nothing might belong to a deleted session; and made-up names would each make an entry.
  const hasTarget = !outcome.endsWith('_NOT_FOUND') && !beforeLooking.has(outcome);
  const entry = {
    ...{ userId, action: name, outcome, program: note.program ?? actor.program, address: addressOf(request) },
    target: hasTarget
      ? (note.target ?? text(params['id']) ?? text((body as { id?: unknown } | undefined)?.id))
      : undefined,
    ...(hasTarget
      ? { question: note.question, digest: note.digest, deliver: note.deliver, setting: note.setting }
      : {}),
    ...{ requestId: text(response?.getHeader('X-Request-Id')) },
  };
  const defined = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
  await addAuditEntry(database, defined as typeof entry & { userId: string }).catch((error: unknown) =>
    logger.error({ err: error, action: name }, 'an entry of the audit could not be written'),
  );
}

/** Does the work and writes its outcome down before the answer. Rejects like the work. */
export async function audited<A extends { body?: unknown }>(
  deps: Deps,
  done: Done,
  work: () => Promise<A>,
): Promise<A> {
  let answer: A;
  try {
    answer = await work();
  } catch (error) {
    await write(deps, done, toRelayError(error).code);
    throw error;
  }
  await write(deps, done, 'done', answer.body);
  return answer;
}

/** Records that a program's token lacks the scope of a route. The entry names no target, since none was looked up. */
export const noteScopeRefusal = (deps: Deps, done: Omit<Done, 'params' | 'note'>): Promise<void> =>
  write(deps, { ...done, params: {}, note: {} }, 'INSUFFICIENT_SCOPE');

/** Like `requireScope`, with an entry in the audit for a refusal. */
export async function requireScopeAt(
  deps: Deps,
  door: Pick<Done, 'name' | 'request' | 'response'>,
  principal: UserPrincipal,
  scope: Scope,
): Promise<void> {
  try {
    requireScope(principal, scope);
  } catch (error) {
    await noteScopeRefusal(deps, { ...door, actor: { userId: principal.userId, program: principal.clientId } });
    throw error;
  }
}
