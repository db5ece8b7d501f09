/**
 * Implements `Agent` for any ACP agent. Each conversation has its own process, so a conversation that hangs, floods or must be
 * killed affects no other. Idle processes stop after a while; the next message resumes the conversation.
 *
 * A question leaves the turn open at the agent: the task settles as WAIT_FOR_USER, and the next task of the session carries the
 * answer and receives the rest of the turn.
 */
import { type Turn, type TurnReport, type Agent, type RunningTurn, systemClock } from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import { commandAboutAsking } from './danger.ts';
import { limitIn } from './limits.ts';
import { createNotes } from './notes.ts';
import { type AcpOptions, type AcpTimings, acpTimings } from './options.ts';
import { createOpenings } from './openings.ts';
import { type OnUpdate, createProcessPool } from './pool.ts';
import { createSettings } from './settings.ts';
import { type AgentAbilities, type AgentProcess, AgentFailure } from './process.ts';

/** The name of a message of an agent whose sessions are read by replay: the same in a live turn. `part`: from 1, one more per tool call. */
const listedName = (role: 'USER' | 'AGENT', messageId: string, part: number): string =>
  part === 1 ? `${role} ${messageId}` : `${role} ${messageId} ${part}`;

export interface AcpAgent extends Agent {
  /**
   * Asks the agent outside every conversation, in a temporary process. Rejects with an AgentFailure, also while the
   * agent closes.
   */
  visit<T>(visitor: Visitor<T>): Promise<T>;
  /** Returns a live process that can be used outside its conversation, if there is one. */
  borrow(): AgentProcess | undefined;
}

interface Visitor<T> {
  use: (process: AgentProcess, can: AgentAbilities) => Promise<T>;
  onUpdate?: OnUpdate;
}

const tooLate = 'The agent no longer waits for this answer. Nothing was sent to it.';
const answerFirst =
  'The agent is waiting for an answer, and an answer cannot contain images or files. Answer first, then send them.';

/** The report before the daemon is connected. */
const noReport: TurnReport = {
  progress: () => undefined,
  output: () => undefined,
  complete: () => undefined,
  wait: () => undefined,
  error: () => undefined,
  process: () => undefined,
};

export function acpAgent(options: AcpOptions): AcpAgent {
  const { quirks = {} } = options;
  const timings: AcpTimings = { ...acpTimings, ...options.timings };
  const { clock = systemClock, limitsOf } = options;
  const notes = createNotes({ now: () => clock.now(), limitsOf });
  const settings = createSettings(timings.openMs, options);
  let abilities: readonly string[] | undefined;
  let ownTurn: (sessionId: string) => TurnReport = () => noReport;
  const pool = createProcessPool(options, {
    timings,
    ownTurn: (sessionId) => ownTurn(sessionId),
    unknownCommand: (sessionId, message) => notes.unknownCommand(sessionId, message),
    limitOf: (sessionId, error) => limitIn(quirks.limit, error, notes.reportedLimits(sessionId), new Date(clock.now())),
    observe(sessionId, update) {
      return settings.observe(sessionId, update) ? notes.observe(sessionId, update) : undefined;
    },
    ready(can) {
      abilities = (['images', 'steer'] as const).filter((name) => can[name]);
    },
  });
  const { conversations, dismiss, live } = pool;
  const { folderOf, open, reopen } = createOpenings(options, { pool, settings, timings });
  let closed = false;
  const aboutAsking = (sessionId: string, message: string) =>
    commandAboutAsking(message, (name) => notes.describedAs(sessionId, name));
  /** The reason why a message does not reach the agent. */
  const refusalOf = ({ sessionId, message, isSafe }: Turn): string | undefined => {
    if (!isSafe && !options.askAtDesk && !options.noFullAccess) return undefined;
    const command = aboutAsking(sessionId, message);
    return command && `“/${command}” can change when the agent asks, so only a person at its machine can send it.`;
  };

  const serve = async (turn: Turn, report: TurnReport, signal: AbortSignal): Promise<void> => {
    try {
      let conversation = await live(turn.sessionId);
      if (conversation?.asking() && (turn.images || turn.files)) throw new AgentFailure(answerFirst);
      if (conversation) {
        const outcome = await conversation.answer(turn, report, signal);
        if (outcome === 'done' || signal.aborted) return;
        // Its process might have exited in the meantime.
        conversation = await live(turn.sessionId);
      }
      // A choice is meaningless without its question: the agent could take it as a permission.
      if (turn.answer?.option !== undefined || turn.answer?.fields) return report.error(tooLate, 'PROMPT_SUPERSEDED');
      conversation ??= await reopen(turn, (pid) => report.process(pid), signal);
      if (signal.aborted) return;
      const refusal = refusalOf(turn);
      if (refusal !== undefined) return report.error(refusal, 'SETTING_NOT_APPLIED');
      if (conversation.pid !== undefined) report.process(conversation.pid);
      if (turn.settings) {
        try {
          await settings.apply(conversation.agent, turn.sessionId, turn.settings);
        } catch (error) {
          return report.error(reasonOf(error), 'SETTING_NOT_APPLIED');
        }
        report.chosen?.(turn.settings);
      }
      // While the agent opened it, a terminal might have opened it too.
      if (options.holders?.of(turn.sessionId)?.sure && report.held) return report.held();
      await conversation.prompt(turn, report, signal);
    } catch (error) {
      report.error(reasonOf(error));
    }
  };

  return {
    // Whether the agent accepts images, or messages while it works, is only known once its process runs. The task
    // reports it if it does not.
    capabilities: ['images', 'files', 'usage', 'settings', 'controls', 'steer'],
    holdsQuestions: true,
    tellsUpdates: true,
    ...(options.listed ? { messageName: listedName } : {}),
    ...(options.holders ? { holders: options.holders } : {}),
    context: notes.context,
    async settings(session, change) {
      const { sessionId } = session;
      if (!change && settings.of(sessionId)) return settings.of(sessionId) ?? [];
      if (closed) throw new AgentFailure('The daemon is shutting down.');
      const conversation =
        (await live(sessionId)) ?? (await reopen(session, () => undefined, AbortSignal.timeout(timings.openMs)));
      return change ? settings.change(conversation.agent, sessionId, change) : (settings.of(sessionId) ?? []);
    },
    async steer(message, injected) {
      const conversation = conversations.get(message.sessionId);
      if (!conversation?.usable()) return { outcome: 'refused', reason: 'The agent has not begun with its turn yet.' };
      // The message does not name its sender.
      if (aboutAsking(message.sessionId, message.message) !== undefined)
        return { outcome: 'refused', reason: 'A command that can change when the agent asks waits for its turn.' };
      return conversation.steer(message, injected);
    },
    cachedSettings(sessionId) {
      const cached = settings.of(sessionId);
      return cached && { settings: cached, isLive: conversations.get(sessionId)?.usable() === true };
    },
    abilities: () => abilities,
    onSettings: settings.onChange,
    onCommands: notes.onCommands,
    onOwnTurn: (listener) => void (ownTurn = listener),
    open,
    start(turn, report): RunningTurn {
      const stop = new AbortController();
      const ended = serve(turn, report, stop.signal);
      return {
        ended,
        async cancel() {
          stop.abort();
          await ended;
        },
      };
    },
    abandon(taskId) {
      for (const conversation of conversations.values()) conversation.abandon(taskId);
    },
    async letGo(sessionId) {
      const conversation = conversations.get(sessionId);
      if (!conversation?.idle() || quirks.neverReload) return;
      dismiss(conversation);
      await live(sessionId);
    },
    outdated(sessionId) {
      // A live process does not see rows that a terminal added to the session; a new process does.
      const conversation = conversations.get(sessionId);
      if (conversation?.idle() && !quirks.neverReload) dismiss(conversation);
    },
    async visit({ use, onUpdate }) {
      if (closed) throw new AgentFailure('The daemon is shutting down.');
      const { agent } = pool.start(folderOf(''), onUpdate);
      try {
        return await use(agent, await agent.ready);
      } finally {
        await agent.end();
      }
    },
    borrow: () => [...conversations.values()].find((conversation) => conversation.usable())?.agent,
    async close() {
      closed = true;
      await pool.close();
    },
    reap: ({ pid }) => pool.reap(pid),
    abort() {
      closed = true;
      pool.abort();
    },
  };
}
