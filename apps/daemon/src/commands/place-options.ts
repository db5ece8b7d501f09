/** Options about where and how agents work: kept at `register`, or given for one run of `up`. */
import { type TranscriptSettings, exitCodes } from '@relay/daemon-kit';
import { Failure } from '@relay/machine';
import { type Config, type DeskMode, type FilesLevel, deskModes, isAgentCount } from '../config.ts';

/** Options that every command takes. */
export interface CommonOptions {
  home?: string;
  json?: boolean;
  profile?: string;
}

export interface PlaceOptions {
  allow?: string[];
  project?: string;
  maxAgents?: string;
  askAtDesk?: boolean;
  /** False with `--no-full-access`. */
  fullAccess?: boolean;
  desk?: string;
}

/** The part of an agent's work that is sent to a relay. */
export interface TranscriptOptions {
  transcript?: string | undefined;
  thoughts?: string | undefined;
}

/** The files that apps can read. */
export interface FileOptions {
  files?: string;
  hide?: string[];
  show?: string[];
  /** Keeps files of people outside of projects. */
  filesOutside?: boolean;
  /** False with `--no-files-out`. */
  filesOut?: boolean;
}

/** Throws a Failure (usage) for an unknown word. `detail`: without the transcript, apps see no files either unless they were allowed. */
export function filesOf({ files }: Pick<FileOptions, 'files'>, detail: TranscriptSettings['detail']): FilesLevel {
  const level = files ?? (detail === 'full' ? 'all' : 'off');
  if (level === 'all' || level === 'changes' || level === 'off') return level;
  throw new Failure('BAD_OPTION', '--files must be all, changes or off.', exitCodes.usage);
}

/** The sentence about these files for people. */
export function filesSentence({ files, transcript = 'full', allow = [] }: Partial<Config>): string {
  const level = filesOf(files === undefined ? {} : { files }, transcript);
  if (level === 'off') return 'Apps may read no files.';
  const what = level === 'changes' ? 'changes of files' : 'files';
  return `Apps may read ${what} below ${allow.join(', ') || 'your home folder'}, without those that may hold secrets.`;
}

/** Throws a Failure (usage) for an unknown word. */
export function transcriptSettings({ transcript = 'full', thoughts = 'on' }: TranscriptOptions): TranscriptSettings {
  if (transcript !== 'full' && transcript !== 'outline' && transcript !== 'off')
    throw new Failure('BAD_OPTION', '--transcript must be full, outline or off.', exitCodes.usage);
  if (thoughts !== 'on' && thoughts !== 'off')
    throw new Failure('BAD_OPTION', '--thoughts must be on or off.', exitCodes.usage);
  return { detail: transcript, thoughts: thoughts === 'on' };
}

/** undefined when it was not given. Throws a Failure (usage) for an unknown word. */
export function deskModeOf({ desk }: PlaceOptions): DeskMode | undefined {
  const mode = deskModes.find((name) => name === desk);
  if (desk !== undefined && mode === undefined)
    throw new Failure('BAD_OPTION', '--desk must be full, show or off.', exitCodes.usage);
  return mode;
}

/** undefined when it was not given. Throws a Failure (usage) for an invalid number. */
export function agentCountOf({ maxAgents }: PlaceOptions): number | undefined {
  if (maxAgents === undefined) return undefined;
  const count = /^\d+$/.test(maxAgents) ? Number(maxAgents) : 0;
  if (isAgentCount(count)) return count;
  throw new Failure('BAD_OPTION', '--max-agents must be a number from 1 to 500.', exitCodes.usage);
}
