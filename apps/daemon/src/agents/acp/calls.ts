/** Describes a tool call of ACP for people: its action, its object and its change. Pure; reads by shape. */
import {
  type Fields,
  bareTitle,
  below,
  commandOf,
  keepHead,
  linesOf,
  listOf,
  recordOf,
  textOf,
  wordsOf,
} from '@relay/daemon-kit';

const actions: Readonly<Record<string, string>> = {
  read: 'Reading',
  edit: 'Editing',
  delete: 'Deleting',
  move: 'Moving',
  search: 'Searching',
  execute: 'Running',
  think: 'Thinking',
  fetch: 'Fetching',
  switch_mode: 'Switching',
};

const verbs: Readonly<Record<string, string>> = {
  read: 'Read',
  edit: 'Edit',
  delete: 'Delete',
  move: 'Move',
  search: 'Search',
  execute: 'Run',
  fetch: 'Fetch',
};

/** Verbs at the start of a title that already describe the action. */
const beginsWithVerb =
  /^(run|execut|start|edit|writ|creat|updat|modif|chang|delet|remov|mov|renam|read|view|open|search|find|list|fetch|get|download|apply|patch|replac|append|insert|add|overwrit|sav|use|call|switch|ask)\w*\s/i;

const maxWords = 300;
const diffBytes = 8 * 1024;
const inputBytes = 2 * 1024;

/**
 * Returns the action of a tool call and its object: its command, else its path, else its title. A command found only in
 * the title is not a path.
 */
export function describeCall(call: Fields, cwd: string): [action: string, target: string] {
  const kind = wordsOf(call.kind);
  const title = bareTitle(call);
  const path = pathOf(call, cwd);
  const target = commandOf(call) ?? (kind === 'execute' ? title || path : path || title);
  return [actions[kind] ?? 'Working', target ?? ''];
}

/** Whether the call already names its object. The folder of a command does not count. */
export const hasInput = (call: Fields) =>
  Object.keys(recordOf(call.rawInput)).length > 0 || (call.kind !== 'execute' && listOf(call.locations).length > 0);

/**
 * Returns the requested action as verb and object: `Run npm test`, `Write src/a.ts`, or the title if it already reads
 * like that.
 */
export function intentOf(call: Fields, cwd: string): string {
  const title = bareTitle(call);
  const command = commandOf(call);
  const isPhrase = /\s/.test(title) && !title.startsWith('/');
  if (command !== undefined) return isPhrase && !title.includes(command) ? oneLine(title) : `Run ${oneLine(command)}`;
  if (beginsWithVerb.test(title)) return oneLine(title);
  const diffs = diffsOf(call);
  const kind = wordsOf(call.kind) || (diffs.length > 0 ? 'edit' : '');
  const isNew = kind === 'edit' && (diffs.some(({ oldText }) => wordsOf(oldText) === '') || /^write/i.test(title));
  const verb = isNew ? 'Write' : verbs[kind];
  const path = pathOf(call, cwd);
  if (verb !== undefined)
    return `${verb} ${oneLine(kind === 'execute' ? title || 'a command' : path || title || 'something')}`;
  return isPhrase ? oneLine(title) : `Use ${title || 'a tool'}`;
}

/**
 * Returns the details that the summary of a call lacks: the whole command, its changes with their lines, its content, else its
 * input. Bounded.
 */
export function detailsOf(call: Fields, cwd: string, description: string): string {
  const command = commandOf(call);
  const changes = diffsOf(call).map((diff) => changeOf(diff, cwd));
  const content = changes.length > 0 ? changes.join('\n\n') : contentOf(call.content, cwd);
  const parts = [command === undefined || description.includes(command) ? '' : command, shortened(content, diffBytes)];
  const details = parts.filter((text) => text.trim() !== '').join('\n\n');
  return details !== '' || command !== undefined ? details : inputOf(call, description);
}

/** The input of a tool, without the part that was shown already. */
function inputOf(call: Fields, description: string): string {
  const left = Object.entries(recordOf(call.rawInput)).filter(
    ([, value]) => !(typeof value === 'string' && (value === '' || description.includes(value))),
  );
  return left.length === 0 ? '' : shortened(JSON.stringify(Object.fromEntries(left), undefined, 2), inputBytes);
}

const diffsOf = (call: Fields): Fields[] =>
  [...listOf(call.content)].filter(({ type, newText }) => type === 'diff' && typeof newText === 'string');

/** `path (+added −removed)` and the lines that differ, without the common lines at the start and the end. */
function changeOf({ path, oldText, newText }: Fields, cwd: string): string {
  const before = linesOf(wordsOf(oldText));
  const after = linesOf(wordsOf(newText));
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let same = 0;
  while (same < Math.min(before.length, after.length) - from && before.at(-1 - same) === after.at(-1 - same)) same++;
  const gone = before.slice(from, before.length - same).map((line) => `- ${line}`);
  const come = after.slice(from, after.length - same).map((line) => `+ ${line}`);
  return [`${below(wordsOf(path), cwd)} (+${come.length} −${gone.length})`, ...gone, ...come].join('\n');
}

function pathOf(call: Fields, cwd: string): string | undefined {
  const [location] = listOf(call.locations);
  const [diff] = diffsOf(call);
  const input = recordOf(call.rawInput);
  const path = [location?.path, input.file_path, input.filePath, input.path, diff?.path].map(wordsOf).find(Boolean);
  return path === undefined ? undefined : below(path, cwd);
}

/** The files that a call changed, one a line. */
export const changedBy = (call: Fields, cwd: string): string =>
  diffsOf(call)
    .map(({ path }) => `changed ${below(wordsOf(path), cwd)}`)
    .join('\n');

/** Returns the content of a call as text; a changed file appears as its path. */
function contentOf(content: unknown, cwd: string): string {
  return listOf(content)
    .map((item) => {
      if (item.type === 'content') return textOf(item.content).trimEnd();
      return item.type === 'diff' && typeof item.path === 'string' ? `changed ${below(item.path, cwd)}` : '';
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** The first line, and a sign that there is more. */
export function oneLine(text: string): string {
  const [line = '', ...more] = text.trim().split(/\r?\n/);
  const head = [...line.slice(0, 2 * maxWords)].slice(0, maxWords).join('');
  return more.length > 0 || head !== line ? `${head} …` : head;
}

function shortened(text: string, maxBytes: number): string {
  const head = keepHead(text, maxBytes);
  return head === text ? text : `${head}\n[… ${text.length - head.length} characters more]`;
}
