/** Which commands of an agent fit what is written so far. Pure. */
import type { CommandList } from '@relay/protocol';

export type SlashCommand = CommandList['commands'][number];

const maxShown = 8;

/** Those that begin with what is written so far; none once the name is complete and something stands behind it. */
export function fitting(commands: readonly SlashCommand[], text: string): SlashCommand[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands.filter(({ name }) => name.toLowerCase().startsWith(typed)).slice(0, maxShown);
}
