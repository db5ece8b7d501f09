/** Questions about the files of a session, and their answers: passed on as text, and kept nowhere (rules, 25.6). Pure. */
import { type Capability, type FromDaemon, type Reply, type ToDaemon, changeLimits, cutText } from '@relay/protocol';
import type { Question } from './requests.ts';

export type FileFrame = 'get_changes' | 'get_diff' | 'get_files' | 'get_file';
type Asking = Extract<Question, { kind: 'ask_files' }>;
export type FileAnswer = FromDaemon<'changes' | 'diff' | 'files' | 'file'>;

/** Undefined when the daemon cannot be asked. */
export function filesAsked(
  { about, v: _v, kind: _kind, sessionId: _sessionId, ...fields }: Asking,
  session: { request_id: string; session_id: string },
  can: (capability: Capability) => boolean,
): { frame: ToDaemon<FileFrame>; answer: FileAnswer['type'] } | undefined {
  if (!can('changes') || ((about === 'files' || about === 'file') && !can('browse'))) return undefined;
  return { frame: { type: `get_${about}`, ...session, ...fields } as ToDaemon<FileFrame>, answer: about };
}

/** The required fields of each answer. */
const needed: Readonly<Record<FileAnswer['type'], readonly string[]>> = {
  changes: ['scope', 'scopes', 'files'],
  diff: ['path', 'change', 'hunks'],
  files: ['path', 'entries'],
  file: ['path', 'kind', 'bytes'],
};

const codes = [
  'FILE_NOT_FOUND',
  'FILE_HIDDEN',
  'SCOPE_NOT_AVAILABLE',
  'CHANGES_TOO_LARGE',
  'NOT_SUPPORTED_BY_DEVICE',
] as const;
const sentences: Readonly<Record<(typeof codes)[number], string>> = {
  FILE_NOT_FOUND: 'There is no such file in this session, or it lies outside what the machine shares.',
  FILE_HIDDEN: 'The machine keeps the content of this file: it may hold secrets.',
  SCOPE_NOT_AVAILABLE: 'The files cannot be compared like this.',
  CHANGES_TOO_LARGE: 'The comparison is too large.',
  NOT_SUPPORTED_BY_DEVICE: 'The machine does not share these files.',
};

/** The reply, and the text that follows its head. */
export function filesReply(frame: FileAnswer): { reply: Reply; rest: string } {
  const failed = (reply: Reply) => ({ reply, rest: '' });
  const { type, request_id: _id, code, error, ...fields } = frame;
  const known = codes.find((name) => name === code);
  if (known) {
    const { scopes } = fields as { scopes?: readonly string[] | null };
    const instead = scopes ? { scopes: scopes.slice(0, 16) } : {};
    return failed({ v: 1, kind: 'failure', code: known, error: sentences[known], ...instead });
  }
  const isWhole = needed[type].every(
    (name) =>
      (fields as Record<string, unknown>)[name] !== undefined && (fields as Record<string, unknown>)[name] !== null,
  );
  if (error || !isWhole) {
    const why = `The device answered: ${cutText(error || 'nothing', 1024)}`;
    return failed({ v: 1, kind: 'failure', code: 'DEVICE_ERROR', error: why });
  }
  // `written`: the text of the frame, which the connection adds.
  const {
    session_id: _session,
    written: _text,
    includes_earlier: includesEarlier,
    ...same
  } = fields as Record<string, unknown>;
  const given = Object.entries({ ...same, includesEarlier }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const rest = JSON.stringify(Object.fromEntries(given));
  if (Buffer.byteLength(rest) > changeLimits.frameBytes)
    return failed({ v: 1, kind: 'failure', code: 'DEVICE_ERROR', error: 'The device answered too much.' });
  return { reply: { v: 1, kind: 'device_files' }, rest };
}
