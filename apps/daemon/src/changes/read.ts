/** Folders and files of a session for apps. */
import { type ChangeScope, type FileList, type FilePiece, type ToDaemon, changeLimits } from '@relay/protocol';
import type { SessionPlace } from '@relay/daemon-kit';
import type { ProjectRules } from '../agents/project.ts';
import { changesSince, isBinary, nameOf } from './compare.ts';
import { missing, secret } from './refusals.ts';
import type { Root } from './repository.ts';
import { entriesOf, openFolders, piece, withFile } from './safe-files.ts';
import { holdsKey } from './secrets.ts';

interface Reading {
  rules: ProjectRules;
  isSecret: (path: string) => boolean;
  /** Returns the content of a file in the commit that a scope compares with. */
  before: (session: SessionPlace, scope: ChangeScope, turn: string | undefined, path: string) => Promise<Buffer>;
}

const foundMax = 50;
const lookedAt = 50_000;
/** A larger file is not searched for keys, and so not sent. */
const textBytes = 16 * 1024 * 1024;

const types: readonly (readonly [mime: string, begins: string])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF8'],
];

function imageType(head: Buffer): string | undefined {
  const begin = head.subarray(0, 16).toString('latin1');
  if (begin.startsWith('RIFF') && begin.slice(8, 12) === 'WEBP') return 'image/webp';
  return types.find(([, begins]) => begin.startsWith(begins))?.[0];
}

export async function readEntries(
  { rules, isSecret }: Reading,
  root: Root,
  { path = '', find }: ToDaemon<'get_files'>,
): Promise<FileList> {
  if (find !== undefined) return { path, ...(await findFiles(root, rules, isSecret, find)) };
  const entries = await entriesOf(root.path, path, rules);
  if (!entries) throw missing();
  const { repository } = root;
  const comparing = repository?.head ? changesSince(repository, repository.head, root.path, rules) : [];
  // A folder that is too large to compare can still be listed.
  const changes = await Promise.resolve(comparing).catch(() => []);
  const changed = new Set(changes.map((change) => change.path));
  const at = (name: string) => (path === '' ? name : `${path}/${name}`);
  const all = entries
    .map((entry) => ({
      ...entry,
      path: at(entry.name),
      ...(changed.has(at(entry.name)) ? { changed: true } : {}),
      ...(isSecret(at(entry.name)) ? { hidden: 'secret' } : {}),
    }))
    .sort(
      (one, other) =>
        Number(one.kind !== 'folder') - Number(other.kind !== 'folder') || (one.name < other.name ? -1 : 1),
    );
  const shown = all.slice(0, changeLimits.entries);
  return { path, entries: shown, ...(all.length > shown.length ? { more: true } : {}) };
}

async function findFiles(root: Root, rules: ProjectRules, isSecret: (path: string) => boolean, wanted: string) {
  const names = await (root.repository ? tracked(root, rules) : walked(root, rules));
  const letters = [...wanted.toLowerCase()].filter((letter) => letter.trim() !== '');
  const fits = (path: string) => {
    let at = 0;
    const text = path.toLowerCase();
    return letters.every((letter) => (at = text.indexOf(letter, at) + 1) > 0);
  };
  const isNear = (path: string) => path.toLowerCase().includes(wanted.toLowerCase());
  const found = names.filter(fits).sort((one, other) => Number(isNear(other)) - Number(isNear(one)) || one.length - other.length); // prettier-ignore
  const entries = found.slice(0, foundMax).map((path) => ({
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    kind: 'file',
    ...(isSecret(path) ? { hidden: 'secret' } : {}),
  }));
  return { entries, ...(found.length > entries.length || names.length >= lookedAt ? { more: true } : {}) };
}

async function tracked({ path: root, repository }: Root, rules: ProjectRules): Promise<string[]> {
  const isOpen = openFolders(root, rules);
  const out = await repository!.git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { timeMs: 1000 });
  const all = out.toString('latin1').split('\0', lookedAt).filter(Boolean).map(nameOf);
  return all.flatMap(({ raw, path }) => (raw || !isOpen(path) ? [] : [path]));
}

async function walked(root: Root, rules: ProjectRules): Promise<string[]> {
  const names: string[] = [];
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined && names.length < lookedAt; folder = folders.shift()) {
    for (const { name, kind } of (await entriesOf(root.path, folder, rules)) ?? []) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (kind === 'folder') folders.push(path);
      else names.push(path);
    }
    if (folders.length > lookedAt) break;
  }
  return names;
}

export async function readPiece(
  { rules, isSecret, before }: Reading,
  session: SessionPlace,
  root: Root,
  { path, side = 'now', scope = 'uncommitted', turn, offset, limit }: ToDaemon<'get_file'>,
): Promise<FilePiece> {
  if (side === 'before') {
    if (isSecret(path)) throw secret();
    const content = await before(session, scope, turn, path);
    return pieceOf(path, content.length, content, offset, limit);
  }
  const found = await withFile(root.path, path, rules, async ({ handle, bytes }) => {
    if (isSecret(path)) throw secret();
    const head = await piece(handle, 0, Math.min(bytes, changeLimits.imageBytes));
    const isText = !isBinary(head) && imageType(head) === undefined;
    const content = isText && bytes > head.length && bytes <= textBytes ? await piece(handle, 0, bytes) : head;
    return pieceOf(path, bytes, content, offset, limit);
  });
  if (!found) throw missing();
  return found;
}

/** `content`: the whole file, or the beginning of a large one. */
function pieceOf(path: string, bytes: number, content: Buffer, offset: number, limit: number): FilePiece {
  const mime = imageType(content);
  if (mime !== undefined && bytes <= content.length)
    return { path, kind: 'image', mime, bytes, data: content.toString('base64') };
  if (mime !== undefined || isBinary(content) || bytes > content.length)
    return { path, kind: 'other', ...(mime === undefined ? {} : { mime }), bytes };
  if (holdsKey(content.toString('latin1'))) throw secret();
  const end = characterEnd(content, Math.min(offset + limit, content.length));
  const text = content.subarray(characterEnd(content, offset), end).toString('utf8');
  return { path, kind: 'text', bytes, text, ...(end < content.length ? { next: end } : {}) };
}

/** The place, or the next one at which a character begins. */
function characterEnd(content: Buffer, at: number): number {
  let end = at;
  while (end < content.length && end < at + 3 && ((content[end] ?? 0) & 0xc0) === 0x80) end += 1;
  return Math.min(end, content.length);
}
