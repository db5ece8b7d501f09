/** The state of a session's files at the beginning of a turn: the commit, and ids of the files that differed from it. Keeps no content. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '@relay/daemon-kit';
import { replaceOwnerFile } from '@relay/machine';
import type { ProjectRules } from '../agents/project.ts';
import type { Found } from './compare.ts';
import { readHead } from './safe-files.ts';

export interface TurnMark {
  at: string;
  turn: string;
  head: string;
  branch?: string;
  /** Ids of the contents of files that differed from the commit, by path; empty for a missing file. */
  dirty?: Record<string, string>;
  /** `dirty` was not available in time. */
  partial?: true;
}

interface Marks {
  first?: TurnMark;
  turns: TurnMark[];
}

const keptTurns = 50;
const dirtyMax = 500;
const dirtyBytes = 1024 * 1024;
const fileBytes = 1024 * 1024;

export interface MarkBook {
  of(sessionId: string): Marks;
  add(sessionId: string, mark: TurnMark): void;
}

export function openMarks(folder: string): MarkBook {
  const file = (sessionId: string) =>
    join(folder, `${createHash('sha256').update(sessionId).digest('hex').slice(0, 32)}.json`);
  const of = (sessionId: string): Marks => {
    try {
      return JSON.parse(readFileSync(file(sessionId), 'utf8')) as Marks;
    } catch {
      return { turns: [] };
    }
  };
  return {
    of,
    add(sessionId, mark) {
      const { first = mark, turns } = of(sessionId);
      const kept = [...turns.filter(({ turn }) => turn !== mark.turn), mark].slice(-keptTurns);
      let text = JSON.stringify({ first, turns: kept });
      while (text.length > fileBytes && kept.length > 1) {
        kept.shift();
        text = JSON.stringify({ first, turns: kept });
      }
      makePrivateFolder(folder);
      replaceOwnerFile(file(sessionId), text);
    },
  };
}

/** The id of the content of a file now; empty for a missing file, undefined for a large one. */
export async function contentId(root: string, path: string, rules: ProjectRules): Promise<string | undefined> {
  const read = await readHead(root, path, rules, dirtyBytes);
  if (!read) return '';
  return read.bytes > dirtyBytes ? undefined : createHash('sha256').update(read.head).digest('hex');
}

/** Returns ids of the files that differ; undefined if there are too many. */
export async function idsOf(
  changes: readonly Found[],
  root: string,
  rules: ProjectRules,
): Promise<Record<string, string> | undefined> {
  if (changes.length > dirtyMax) return undefined;
  const ids: Record<string, string> = {};
  for (const { path } of changes) {
    const id = await contentId(root, path, rules);
    if (id !== undefined) ids[path] = id;
  }
  return ids;
}
