/** Finds the commands of an agent that match the text typed so far. Pure. */
import type { CommandList } from '@relay/protocol';

export type SlashCommand = CommandList['commands'][number];

const maxShown = 8;

/** Commands that begin with the typed text; empty once the name is complete and more text follows it. */
export function fitting(commands: readonly SlashCommand[], text: string): SlashCommand[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands.filter(({ name }) => name.toLowerCase().startsWith(typed)).slice(0, maxShown);
}
