/** `relay cancel`: ends what runs in a session, else dismisses what the agent asks, else takes back what waits longest. */
import { exitCodes } from '../failure.ts';
import { findSessionId } from '../naming.ts';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { contextOf } from './context.ts';

export async function cancelCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<number> {
  const { relay, say } = contextOf(options, terminal);
  const cancelled = await relay.call('cancelSession', { params: { id: await findSessionId(relay, typed) } });
  say(cancelled, () => `Task ${cancelled.taskId} is ${cancelled.state}.\n`);
  return exitCodes.ok;
}
