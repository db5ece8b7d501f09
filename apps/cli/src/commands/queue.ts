/**
 * `relay queue`: lists the queued messages of a session, and edits, moves or withdraws one, or withdraws all. `relay later`: lists the scheduled
 * messages of all sessions.
 */
import type { ChangeQueued, QueuedTask, SessionQueue } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findSessionId, nameOf } from '../naming.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { ago, clockTime } from '../show/times.ts';
import { timeOf } from './at-time.ts';
import { type Context, contextOf } from './context.ts';
import { messageOf } from './message.ts';

interface QueueOptions extends CommonOptions {
  before?: string;
  after?: string;
  at?: string;
}

export async function queueCommand(
  typed: string,
  action: string | undefined,
  task: string | undefined,
  text: string | undefined,
  options: QueueOptions,
  terminal: Terminal,
): Promise<void> {
  const { before, after } = options;
  const isMove = action === 'move';
  if (action !== undefined && !['clear', 'edit', 'move', 'remove'].includes(action))
    throw usage(`Unknown action "${action}". Use clear, edit, move or remove.`);
  if (action === 'clear' && task !== undefined) throw usage('"clear" withdraws all messages and takes no task.');
  if (action !== undefined && action !== 'clear' && task === undefined)
    throw usage(`Name a task: "relay queue ${typed}" lists them.`);
  const notBefore = timeOf(options);
  const places = [before, after, notBefore].filter((given) => given !== undefined).length;
  if (places !== (isMove ? 1 : 0))
    throw usage('"move" needs one of --before, --after and --at; other actions take none of them.');
  if (text !== undefined && action !== 'edit') throw usage('Only "edit" takes a text argument.');
  const context = contextOf(options, terminal);
  const { relay, print } = context;
  const content = action === 'edit' ? await messageOf(text, terminal) : undefined;
  const id = await findSessionId(relay, typed);
  if (action === 'clear') return show(context, await relay.call('clearQueue', { params: { id } }));
  const queue = await relay.call('readQueue', { params: { id } });
  if (task === undefined) return show(context, queue);
  const idOf = (named: string) => taskIdOf([...queue.tasks, ...(queue.later ?? [])], named);
  const params = { id, taskId: idOf(task) };
  if (action === 'remove') {
    await relay.call('removeQueued', { params });
    print({ taskId: params.taskId, state: 'cancelled' }, () => `Task ${params.taskId} is cancelled.\n`);
    return;
  }
  const body: ChangeQueued = {
    ...(content === undefined ? {} : { content }),
    ...(before === undefined ? {} : { before: idOf(before) }),
    ...(after === undefined ? {} : { after: idOf(after) }),
    ...(notBefore === undefined ? {} : { notBefore }),
  };
  return show(context, await relay.call('changeQueued', { params, body }));
}

/** Task ids begin with a timestamp; only their last characters distinguish them. */
const shortest = 8;
export const shortTaskId = (taskId: string): string => taskId.slice(-shortest);
const wholeId = 26;

/** Returns the id of the named task. A full id is used as typed: if its task is no longer queued, the relay reports its state. */
function taskIdOf(tasks: readonly QueuedTask[], typed: string): string {
  const wanted = typed.toUpperCase();
  const found = tasks.filter(({ taskId }) => taskId.endsWith(wanted));
  if (found.length === 1) return found[0]!.taskId;
  if (found.length > 1) throw usage(`"${typed}" matches ${found.length} tasks. Type more of the id.`);
  if (wanted.length === wholeId) return wanted;
  throw new Failure('TASK_NOT_FOUND', `No task "${typed}" is queued in this session.`, exitCodes.notFound);
}

function show({ print, terminal }: Context, queue: SessionQueue): void {
  print(queue, () => {
    const { tasks, later = [] } = queue;
    if (tasks.length + later.length === 0) return 'Nothing is queued in this session.\n';
    return tableOf(
      ['TASK', 'SENT', shrinking('MESSAGE')],
      [
        ...tasks.map(({ taskId, createdAt, answers, content }) => [
          shortTaskId(taskId),
          ago(createdAt),
          `${answers === undefined ? '' : '(answer) '}${content}`,
        ]),
        ...later.map(({ taskId, notBefore, content }) => [shortTaskId(taskId), `at ${clockTime(notBefore)}`, content]),
      ],
      terminal,
    );
  });
}

interface CancelOptions extends CommonOptions {
  running?: boolean;
  all?: boolean;
}

/** `relay cancel`: cancels the running task of a session, else dismisses the open question, else withdraws the oldest queued message. */
export async function cancelCommand(typed: string, options: CancelOptions, terminal: Terminal): Promise<void> {
  if (options.running && options.all) throw usage('Use --running or --all, not both.');
  const { relay, print } = contextOf(options, terminal);
  const body = options.all ? { which: 'all' as const } : options.running ? { which: 'running' as const } : {};
  const cancelled = await relay.call('cancelSession', { params: { id: await findSessionId(relay, typed) }, body });
  const { taskId, state, queued = [] } = cancelled;
  const behind = queued.filter((id) => id !== taskId).length;
  print(cancelled, () => `Task ${taskId} is ${state}${behind > 0 ? `, and ${behind} queued behind it` : ''}.\n`);
}

export async function laterCommand(options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const list = await relay.call('listLater');
  print(list, () => {
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
