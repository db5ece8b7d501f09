/**
 * A message into the turn of an agent (`_session/steering`). The agent gets it at most once. After one the turn is over when the agent has
 * answered the prompt and nothing more came for a while: some agents answer the prompt early and work on.
 */
import { type Clock, type Fields, type Steer, type Steered, wordsEnd } from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import { createWork } from './own-turn.ts';
import { type AgentProcess, AgentFailure } from './process.ts';
import { promptOf } from './prompt.ts';
import type { ActiveTurn } from './turn.ts';

interface SteeringOptions {
  sessionId: string;
  agent: AgentProcess;
  clock: Clock;
  timings: {
    /** The time an agent has to take a message. */
    steerMs: number;
    /** The silence that completes a turn with an injected message. */
    steeredQuietMs: number;
  };
  isAsking: () => boolean;
  /** Whether the agent read a message; undefined: it is not known, and counts as read. */
  wasRead?: ((sessionId: string, message: string) => boolean | undefined) | undefined;
}

/** How often, and how many milliseconds apart, the daemon looks for the record of a turn. */
const recordLooks = 20;
const recordMs = 250;

const unable = 'This agent takes no message while it works.';
const notBegun = 'The agent has not begun with its turn yet.';
const asks = 'The agent waits for an answer.';

export function createSteering(options: SteeringOptions) {
  const { sessionId, agent, clock, isAsking, wasRead } = options;
  const { steerMs, steeredQuietMs: quietMs } = options.timings;
  const work = createWork(isAsking);
  /** Calls back at the next update. */
  let stirred: () => void = () => undefined;

  const ask = async (message: Steer, has: () => void): Promise<Steered> => {
    const abilities = await agent.ready;
    const params = {
      sessionId,
      prompt: promptOf(message, abilities),
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    };
    try {
      const { outcome } = await agent.request('_session/steering', params, steerMs, ({ outcome }) => {
        if (outcome === 'injected') has();
      });
      switch (outcome) {
        case 'injected':
          return { outcome };
        case 'promptRequired':
          return { outcome: 'not_running' };
        case 'failed':
          return { outcome: 'refused' };
        default:
          return { outcome: 'unknown' };
      }
    } catch (error) {
      // An error of JSON-RPC is the answer of an agent that did not take it.
      const isAnswer = error instanceof AgentFailure && error.code !== undefined;
      return { outcome: isAnswer ? 'refused' : 'unknown', reason: reasonOf(error) };
    }
  };

  /** A busy agent answers a prompt before the record of the turn is complete: waits for that record, a bounded time. */
  const isUnread = async (message: string, read: NonNullable<SteeringOptions['wasRead']>): Promise<boolean> => {
    for (let looks = recordLooks; looks > 1; looks -= 1) {
      const isRead = read(sessionId, message);
      if (isRead !== undefined) return !isRead;
      await new Promise<void>((resolve) => clock.after(recordMs, resolve));
    }
    return read(sessionId, message) === false;
  };

  return {
    /** An update of the turn. */
    observe(update: Fields) {
      work.observe(update);
      stirred();
    },
    async steer(active: ActiveTurn | undefined, message: Steer, injected: () => void): Promise<Steered> {
      if (!active || active.taskId !== message.taskId) return { outcome: 'refused', reason: notBegun };
      if (active.detached || active.cancelling) return { outcome: 'not_running' };
      if (!(await agent.ready).steer) return { outcome: 'refused', reason: unable };
      if (isAsking()) return { outcome: 'refused', reason: asks };
      const has = () => {
        if (active.steered.includes(message)) return;
        active.steered.push(message);
        // The text after it is a message of its own.
        active.narrator.update({ sessionUpdate: wordsEnd }, { ended: true, printed: '' });
        injected();
      };
      const isOver = () => active.detached || active.cancelling;
      const given = active.steering.then(() => (isOver() ? ({ outcome: 'not_running' } as const) : ask(message, has)));
      active.steering = given.catch(() => undefined);
      return given;
    },
    /** The agent has answered the prompt: resolves when its turn is over, with the messages in it that the agent did not read. */
    async over(active: ActiveTurn): Promise<void> {
      await active.steering;
      work.clear();
      if (active.steered.length > 0 && !active.cancelling)
        await new Promise<void>((resolve) => {
          let cancel = () => {};
          const wait = () => {
            cancel();
            cancel = clock.after(quietMs, () =>
              work.isOpen() && agent.usable() && !active.cancelling ? wait() : done(),
            );
          };
          const done = () => {
            stirred = () => undefined;
            resolve();
          };
          stirred = wait;
          wait();
        });
      for (const { id, message } of active.steered)
        if (wasRead && (await isUnread(message, wasRead))) active.report.dropped?.(id);
    },
  };
}
