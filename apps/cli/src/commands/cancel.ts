/** `relay cancel`: cancels the running task of a session, else dismisses the open question, else withdraws the oldest queued message. */
import { usage } from '../failure.ts';
import { findSessionId } from '../naming.ts';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { contextOf } from './context.ts';

interface CancelOptions extends CommonOptions {
  running?: boolean;
  all?: boolean;
}

export async function cancelCommand(typed: string, options: CancelOptions, terminal: Terminal): Promise<void> {
  if (options.running && options.all) throw usage('Use --running or --all, not both.');
  const { relay, say } = contextOf(options, terminal);
  const body = options.all ? { which: 'all' as const } : options.running ? { which: 'running' as const } : {};
  const cancelled = await relay.call('cancelSession', { params: { id: await findSessionId(relay, typed) }, body });
  const { taskId, state, queued = [] } = cancelled;
  const behind = queued.filter((id) => id !== taskId).length;
  say(cancelled, () => `Task ${taskId} is ${state}${behind > 0 ? `, and ${behind} queued behind it` : ''}.\n`);
}
