/** Options about where and how agents work: kept at `register`, or given for one run of `up`. */
import { Failure, type TranscriptSettings, exitCodes } from '@relay/daemon-kit';
import { type DeskMode, deskModes, isAgentCount } from '../config.ts';

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
export interface TellOptions {
  transcript?: string | undefined;
  thoughts?: string | undefined;
}

/** Throws a Failure (usage) for an unknown word. */
export function tellingOf({ transcript = 'full', thoughts = 'on' }: TellOptions): TranscriptSettings {
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
