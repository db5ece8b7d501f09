/** Prints a live conversation, and turns its outcome into an exit code. */
import type { SentMessage, Task } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import { type FollowWish, type SessionEvent, follow, hasEnded } from '../follow.ts';
import { findSessionId } from '../naming.ts';
import { listening } from '../patience.ts';
import { type ConversationWish, createConversationView } from '../show/conversation-view.ts';
import { oneLine } from '../show/text.ts';
import { type Context, contextOf, jsonLine } from './context.ts';
import type { SendingOptions } from './message.ts';
import { type ReadingOptions, linesOf } from './messages.ts';

type FollowingWish = Pick<FollowWish, 'begin' | 'history' | 'output' | 'once'> & ConversationWish;

/** Returns 0 if the user stopped it, or the task completed or waits; 1 if the task failed; 4 if the session is gone; 130 if interrupted. */
async function followSession(
  { terminal, relay, json }: Context,
  { heading, thoughts, full, ...wish }: FollowingWish,
): Promise<number> {
  const show = createConversationView(terminal, { heading, thoughts, full });
  const print = (event: SessionEvent) => {
    // A growing item is printed once, in full, when its state changes.
    if (json) return terminal.out(event.type === 'item' && event.grows ? '' : jsonLine(event));
    const { out, err } = show(event);
    if (out) terminal.out(out);
    if (err) terminal.err(err);
  };
  let ended: Task | undefined;
  let removed = false;
  const isInterrupted = await listening(relay, print, async (patient, signal) => {
    for await (const event of follow({ relay: patient, signal, ...wish })) {
      if (event.type === 'task') ended = event.task;
      if (event.type === 'session_removed' || event.type === 'device_removed') removed = true;
      print(event);
      await terminal.drained();
    }
  });
  if (removed) return exitCodes.notFound;
  if (!wish.once) return exitCodes.ok;
  if (isInterrupted && !ended) {
    if (!json) terminal.err('Stopped waiting. The agent keeps working; follow it with "relay tail".\n');
    return exitCodes.interrupted;
  }
  return ended ? verdict(ended, json ? undefined : terminal.err) : exitCodes.ok;
}

type SentTask = Pick<SentMessage, 'sessionId' | 'taskId' | 'message'> & { replayed: boolean };

/** Sends a message, and prints the conversation until the task settles. */
export const followTask = (
  context: Context,
  { output = false, thoughts, full }: SendingOptions,
  send: () => Promise<SentTask>,
): Promise<number> =>
  followSession(context, {
    begin: async () => {
      const { sessionId, taskId, message: sent, replayed } = await send();
      return { sessionId, taskId, sent, isNew: !replayed };
    },
    history: 0,
    output,
    once: true,
    heading: false,
    thoughts,
    full,
  });

const endings: Partial<Record<Task['state'], string>> = {
  failed: 'failed',
  cancelled: 'was cancelled',
  expired: 'expired before the device came online',
  unknown: 'may have run: the device lost its connection while the task was being delivered',
};

function verdict({ state, error, id }: Task, err: ((text: string) => void) | undefined): number {
  if (state === 'completed' || state === 'waiting' || !hasEnded(state)) return exitCodes.ok;
  // The conversation shows an error of the agent as a message.
  const why = error && error.code !== 'AGENT_ERROR' ? ` ${oneLine(error.error)}` : '';
  err?.(`The task ${id} ${endings[state] ?? `is ${state}`}.${why}${error ? ` [${error.code}]` : ''}\n`);
  return exitCodes.failed;
}

interface TailOptions extends ReadingOptions {
  once?: boolean;
  lines: string;
  output: boolean;
}

/** `relay tail`: prints the latest messages of a session, then follows it. */
export async function tailCommand(typed: string, options: TailOptions, terminal: Terminal): Promise<number> {
  const history = linesOf(options.lines);
  const context = contextOf(options, terminal);
  // Resolve the name before connecting, so that an unknown name fails at once.
  const sessionId = await findSessionId(context.relay, typed);
  return followSession(context, {
    begin: () => Promise.resolve({ sessionId }),
    history,
    output: options.output,
    once: options.once ?? false,
    heading: true,
    thoughts: options.thoughts,
    full: options.full,
  });
}
