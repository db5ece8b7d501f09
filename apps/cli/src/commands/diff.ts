/** `relay diff`, `relay files` and `relay cat`: show a session's changes and files, from its machine. */
import type { Change, ChangeScope, FileDiff } from '@relay/protocol';
import { patchOf } from '@relay/protocol/plain';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findSessionId } from '../naming.ts';
import type { Relay } from '../relay.ts';
import { diffText } from '../show/diff.ts';
import type { Style } from '../show/style.ts';
import { oneLine, plain } from '../show/text.ts';
import { contextOf } from './context.ts';
import { listSentFiles } from './session-files.ts';

interface DiffOptions extends CommonOptions {
  scope?: string;
  stat?: boolean;
  patch?: boolean;
  exitCode?: boolean;
}

const scopes: readonly ChangeScope[] = ['uncommitted', 'session', 'turn', 'edits'];

function scopeOf({ scope = 'uncommitted' }: DiffOptions): ChangeScope {
  const found = scopes.find((one) => one === scope);
  if (found) return found;
  throw new Failure('BAD_USAGE', `--scope must be ${scopes.join(', ')}.`, exitCodes.usage);
}

export async function diffCommand(
  typed: string,
  path: string | undefined,
  options: DiffOptions,
  terminal: Terminal,
): Promise<number> {
  const { relay, print, style } = contextOf(options, terminal);
  const { stat = false, patch, exitCode } = options;
  const compared = await compare(relay, await findSessionId(relay, typed), { scope: scopeOf(options), path, stat });
  const { changes, diffs } = compared;
  print(stat ? changes : diffs, () => (patch ? diffs.map(patchOf).join('') : comparedText(compared, style)));
  return exitCode && changes.length > 0 ? exitCodes.failed : exitCodes.ok;
}

interface Compared {
  changes: readonly Change[];
  diffs: readonly FileDiff[];
}

/**
 * @param stat without the lines
 * @throws Failure when the machine does not compare files
 */
export async function compare(
  relay: Relay,
  id: string,
  { scope, path, stat = false }: { scope: ChangeScope; path: string | undefined; stat?: boolean },
): Promise<Compared> {
  const changes = (await changesOf(relay, id, scope)).filter((one) => path === undefined || one.path === path);
  const diffs: FileDiff[] = [];
  if (!stat)
    for (const { path: file, hidden } of changes)
      if (hidden === undefined) diffs.push(await wholeDiff(relay, id, file, scope));
  return { changes, diffs };
}

export function comparedText({ changes, diffs }: Compared, style: Style): string {
  const shown = changes.map((change) => {
    const diff = diffs.find((one) => one.path === change.path);
    return { added: 0, removed: 0, ...change, ...(diff ? { hunks: diff.hunks } : {}) };
  });
  const hidden = changes.filter((one) => one.hidden !== undefined);
  const notes = hidden.map((one) => `${oneLine(one.path)}: not shown (${oneLine(one.hidden ?? '')})\n`).join('');
  return `${diffText(shown, { style, mostLines: 10_000, indent: '' })}${notes}`;
}

async function changesOf(relay: Relay, id: string, scope: ChangeScope): Promise<Change[]> {
  const all: Change[] = [];
  for (let after: string | undefined; ;) {
    const query = { scope, ...(after === undefined ? {} : { after }) };
    const { files, more } = await relay.call('readChanges', { params: { id }, query });
    all.push(...files);
    after = files.at(-1)?.path;
    if (!more || after === undefined) return all;
  }
}

async function wholeDiff(relay: Relay, id: string, path: string, scope: ChangeScope): Promise<FileDiff> {
  let diff = await relay.call('readDiff', { params: { id }, query: { path, scope } });
  while (diff.next !== undefined) {
    const next = await relay.call('readDiff', { params: { id }, query: { path, scope, from: diff.next } });
    diff = { ...next, hunks: [...diff.hunks, ...next.hunks] };
  }
  return diff;
}

export async function filesCommand(
  typed: string,
  folder: string | undefined,
  options: CommonOptions & { find?: string; sent?: boolean },
  terminal: Terminal,
): Promise<void> {
  const context = contextOf(options, terminal);
  const { relay, print } = context;
  const id = await findSessionId(relay, typed);
  if (options.sent) return listSentFiles(context, id);
  const query = options.find === undefined ? { path: folder ?? '' } : { find: options.find };
  const answer = await relay.call('listFiles', { params: { id }, query });
  print(answer, () => {
    const names = answer.entries.map(({ path, kind }) => `${oneLine(path)}${kind === 'folder' ? '/' : ''}\n`);
    return `${names.length === 0 ? 'No files.\n' : names.join('')}${answer.more ? 'There are more.\n' : ''}`;
  });
}

export async function catCommand(
  typed: string,
  path: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<number> {
  const { relay, print } = contextOf(options, terminal);
  const params = { id: await findSessionId(relay, typed) };
  let offset: number | undefined;
  do {
    const piece = await relay.call('readFile', {
      params,
      query: { path, ...(offset === undefined ? {} : { offset }) },
    });
    if (piece.kind !== 'text')
      throw new Failure('NOT_TEXT', `${oneLine(path)} is not a text (${piece.bytes} bytes).`, exitCodes.failed);
    print(piece, () => plain(piece.text ?? ''));
    offset = piece.next;
  } while (offset !== undefined);
  return exitCodes.ok;
}
