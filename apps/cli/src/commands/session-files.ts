/** `relay files --sent` and `relay get`: the files of a conversation, and the bytes of one. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Item, isItem, limits } from '@relay/protocol';
import { type Terminal, Failure, systemCode } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findSessionId, nameOf } from '../naming.ts';
import type { Relay } from '../relay.ts';
import { countOf, fieldsOf, listOf, sizeOf, textOf } from '../show/shape.ts';
import { fitted, oneLine } from '../show/text.ts';
import { clockTime } from '../show/times.ts';
import { type Context, contextOf } from './context.ts';

interface SessionFile {
  uuid: string;
  /** The name of its content; empty: the daemon does not keep it. */
  data: string;
  name: string;
  bytes: number;
  from: 'you' | 'agent';
  at: string;
}

/** Pages of a history that are looked through. */
const maxPages = 50;
const mostFiles = 20;

const fileOf = ({ uuid, timestamp: at }: Item, file: unknown, from: SessionFile['from']): SessionFile => {
  const { name, data, bytes } = fieldsOf(file);
  return { uuid, data: textOf(data), name: textOf(name), bytes: countOf(bytes) ?? 0, from, at };
};

function filesIn(item: Item): SessionFile[] {
  const part = fieldsOf(item.part);
  if (part.kind === 'file') return [fileOf(item, part, 'agent')];
  return part.kind === 'user' ? listOf(part.files, mostFiles).map((file) => fileOf(item, file, 'you')) : [];
}

/** The files of a session, newest first. */
async function* filesOfSession(relay: Relay, id: string): AsyncGenerator<SessionFile> {
  let before: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { messages, hasMore, oldestUuid } = await relay.call('readMessages', {
      params: { id },
      query: { parts: '1', limit: limits.historyPage, ...(before === undefined ? {} : { before }) },
    });
    for (const message of messages.toReversed()) if (isItem(message)) yield* filesIn(message).toReversed();
    if (!hasMore || oldestUuid === null) return;
    before = oldestUuid;
  }
}

/** `relay files --sent`. */
export async function listSentFiles({ relay, print }: Pick<Context, 'relay' | 'print'>, id: string): Promise<void> {
  const files: SessionFile[] = [];
  for await (const file of filesOfSession(relay, id)) files.push(file);
  print({ sessionId: id, files }, () =>
    files.length === 0
      ? `${nameOf(id)} has no files.\n`
      : files
          .map(
            ({ name, bytes, from, at, data }) =>
              `${fitted(oneLine(name), 120)}  ${sizeOf(bytes)}  ${from}, ${oneLine(clockTime(at))}${data === '' ? '  (not kept)' : ''}\n`,
          )
          .join(''),
  );
}

interface GetOptions extends CommonOptions {
  out?: string;
  force?: boolean;
}

/** Never writes over a file without `--force`. @throws Failure FILE_NOT_FOUND, FILE_EXISTS */
export async function getCommand(
  typed: string,
  name: string,
  options: GetOptions,
  terminal: Terminal,
): Promise<number> {
  const { relay, print } = contextOf(options, terminal);
  const id = await findSessionId(relay, typed);
  let found: SessionFile | undefined;
  for await (const file of filesOfSession(relay, id))
    if (file.name === name && file.data !== '') {
      found = file;
      break;
    }
  if (!found)
    throw new Failure(
      'FILE_NOT_FOUND',
      `${nameOf(id)} has no file with this name. "relay files ${nameOf(id)} --sent" lists them.`,
      exitCodes.notFound,
    );
  const bytes = await contentOf(relay, id, found);
  const path = options.out ?? safeName(name);
  try {
    await writeFile(path, bytes, { flag: options.force ? 'w' : 'wx', mode: 0o600 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new Failure(
      'FILE_EXISTS',
      `"${oneLine(path)}" exists. Replace it with --force, or choose another name with -o.`,
    );
  }
  print(
    { sessionId: id, name, path, bytes: bytes.length },
    () => `Saved "${oneLine(path)}", ${sizeOf(bytes.length)}.\n`,
  );
  return exitCodes.ok;
}

/** The daemon makes names safe; a malicious one must not choose a folder. */
function safeName(name: string): string {
  const bare = basename(name.replaceAll('\\', '/'));
  return bare === '' || bare.startsWith('.') ? `file${bare}` : bare;
}

async function contentOf(relay: Relay, id: string, { uuid, data }: SessionFile): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const piece: { data: string; next?: number } = await relay.call('readContent', {
      params: { id, uuid, name: data },
      query: { offset },
    });
    parts.push(Buffer.from(piece.data, 'base64'));
    offset = piece.next;
  }
  return Buffer.concat(parts);
}
