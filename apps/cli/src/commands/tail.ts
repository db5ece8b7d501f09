/** `relay tail`: what was said in a session, then what is said. */
import { limits } from '@relay/protocol';
import { usage } from '../failure.ts';
import { findSessionId } from '../naming.ts';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { contextOf } from './context.ts';
import { tell } from './telling.ts';

export interface TailOptions extends CommonOptions {
  once?: boolean;
  lines: string;
  output: boolean;
}

export async function tailCommand(typed: string, options: TailOptions, terminal: Terminal): Promise<number> {
  const history = Number(options.lines);
  if (!/^\d+$/.test(options.lines) || history > limits.historyPage) {
    throw usage(`-n must be a number from 0 to ${limits.historyPage}.`);
  }
  const context = contextOf(options, terminal);
  // Before anything is listened to: a name that leads nowhere is said at once.
  const sessionId = await findSessionId(context.relay, typed);
  return tell(context, {
    begin: () => Promise.resolve({ sessionId }),
    history,
    output: options.output,
    once: options.once ?? false,
    heading: true,
  });
}
