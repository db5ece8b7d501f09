/** `relay later`: lists the scheduled messages of all sessions. */
import type { Terminal } from '@relay/machine';
import { nameOf } from '../naming.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { clockTime } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';
import { shortTaskId } from './queue.ts';

export async function laterCommand(options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, say } = contextOf(options, terminal);
  const list = await relay.call('listLater');
  say(list, () => {
    if (list.tasks.length === 0) return 'No message has a time. "relay send --at" sends one later.\n';
    return tableOf(
      ['WHEN', 'SESSION', 'TASK', shrinking('MESSAGE')],
      list.tasks.map(({ notBefore, sessionId, taskId, content }) => [
        clockTime(notBefore),
        nameOf(sessionId),
        shortTaskId(taskId),
        content,
      ]),
      terminal,
    );
  });
}
