/** `relay tail`: prints the latest messages of a session, then follows it. */
import { findSessionId } from '../naming.ts';
import type { Terminal } from '../terminal.ts';
import { contextOf } from './context.ts';
import { type ReadingOptions, linesOf } from './messages.ts';
import { tell } from './telling.ts';

interface TailOptions extends ReadingOptions {
  once?: boolean;
  lines: string;
  output: boolean;
}

export async function tailCommand(typed: string, options: TailOptions, terminal: Terminal): Promise<number> {
  const history = linesOf(options.lines);
  const context = contextOf(options, terminal);
  // Resolve the name before connecting, so that an unknown name fails at once.
  const sessionId = await findSessionId(context.relay, typed);
  return tell(context, {
    begin: () => Promise.resolve({ sessionId }),
    history,
    output: options.output,
    once: options.once ?? false,
    heading: true,
    thoughts: options.thoughts,
    full: options.full,
  });
}
