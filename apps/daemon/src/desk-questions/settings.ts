/** The entry of the hook in the settings of Claude Code: added and removed by its person alone, and nothing else of the file changes. */
import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recordOf } from '@relay/daemon-kit';
import { homeFolder, readIfPresent, replaceOwnerFile } from '@relay/machine';

/** Seconds that a person has for an answer in an app. */
export const hookSeconds = 3600;
const event = 'PermissionRequest';

export const settingsFile = (env: NodeJS.ProcessEnv): string =>
  join(env.CLAUDE_CONFIG_DIR || join(homeFolder(env), '.claude'), 'settings.json');

/** The entry that runs this command for all tools. */
export const entryFor = (command: string) => ({
  matcher: '*',
  hooks: [{ type: 'command', command, timeout: hookSeconds }],
});

/** The file before and after `on`, so that `off` restores the same bytes. */
interface Kept {
  file: string;
  /** Null: there was no file. */
  before: string | null;
  after: string;
}

const keptFile = (stateDir: string) => join(stateDir, 'desk-questions.json');

/** @throws SyntaxError for a file that is not JSON, TypeError for one of another shape */
function entriesIn(text: string): {
  settings: Record<string, unknown>;
  hooks: Record<string, unknown>;
  entries: unknown[];
} {
  const settings = JSON.parse(text) as unknown;
  if (!isRecord(settings)) throw new TypeError('The settings are not an object.');
  const hooks = settings.hooks ?? {};
  if (!isRecord(hooks)) throw new TypeError('Its "hooks" is not an object.');
  const entries = hooks[event] ?? [];
  if (!Array.isArray(entries)) throw new TypeError(`Its "${event}" is not a list.`);
  return { settings, hooks, entries };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOurs = (command: string) => (entry: unknown) => {
  const { hooks } = recordOf(entry);
  return Array.isArray(hooks) && hooks.length === 1 && recordOf(hooks[0]).command === command;
};

export const isOn = (file: string, command: string): boolean => {
  const text = readIfPresent(file);
  return text !== undefined && entriesIn(text).entries.some(isOurs(command));
};

export function turnOn(file: string, command: string, stateDir: string): void {
  if (isOn(file, command)) return;
  const before = readIfPresent(file);
  const { settings, hooks, entries } = entriesIn(before ?? '{}');
  const after = printed({ ...settings, hooks: { ...hooks, [event]: [...entries, entryFor(command)] } });
  const kept: Kept = { file, before: before ?? null, after };
  replaceOwnerFile(keptFile(stateDir), JSON.stringify(kept));
  mkdirSync(dirname(file), { recursive: true });
  replace(file, after);
}

/** Restores the bytes before `turnOn` if the file did not change since; else it removes the entry alone. */
export function turnOff(file: string, command: string, stateDir: string): void {
  const now = readIfPresent(file);
  const { before, after } = keptIn(stateDir, file);
  rmSync(keptFile(stateDir), { force: true });
  if (now === undefined) return;
  if (now === after) {
    if (before === null) rmSync(file);
    else replace(file, before);
    return;
  }
  const { settings, hooks, entries } = entriesIn(now);
  const others = entries.filter((entry) => !isOurs(command)(entry));
  if (others.length === entries.length) return;
  const { [event]: _, ...otherHooks } = hooks;
  const left = others.length > 0 ? { ...otherHooks, [event]: others } : otherHooks;
  const { hooks: __, ...otherSettings } = settings;
  replace(file, printed(Object.keys(left).length > 0 ? { ...otherSettings, hooks: left } : otherSettings));
}

function keptIn(stateDir: string, file: string): { before: string | null; after: string | undefined } {
  try {
    const kept = recordOf(JSON.parse(readIfPresent(keptFile(stateDir)) ?? '{}')) as Partial<Kept>;
    if (kept.file === file && typeof kept.after === 'string') return { before: kept.before ?? null, after: kept.after };
  } catch {
    // Another version wrote it: the entry alone is removed.
  }
  return { before: null, after: undefined };
}

/** Follows a link, and keeps the mode of the file. */
function replace(file: string, text: string): void {
  if (!existsSync(file)) return replaceOwnerFile(file, text);
  const target = realpathSync(file);
  const { mode } = statSync(target);
  replaceOwnerFile(target, text);
  chmodSync(target, mode);
}

const printed = (settings: object) => `${JSON.stringify(settings, undefined, 2)}\n`;
