/**
 * Any agent that speaks ACP, as an `Agent` of the daemon. Each conversation has a process of its own, so that one that hangs, floods
 * or must be killed affects no other; an idle process ends after a while and the conversation is resumed when it is needed.
 *
 * A question leaves its turn open at the agent: the task ends with WAIT_FOR_USER, and the next task of the session carries the
 * answer and receives the rest.
 */
import {
  type Turn,
  type TurnReport,
  type Opened,
  type Agent,
  type Log,
  type Opening,
  type Clock,
  type RunningTurn,
  reasonOf,
  unusableId,
  systemClock,
  silentLog,
} from '@relay/daemon-kit';
import { isNativeId } from '@relay/protocol';
import { killLeftOver, killTimings } from '../process-group.ts';
import { type ProjectRules, projectFolder } from '../project.ts';
import type { AskAtDesk } from './at-desk.ts';
import { type Conversation, type ConversationTimings, createConversation } from './conversation.ts';
import { type Fields, wordsOf } from './content.ts';
import { listedName } from './names.ts';
import { createNotes } from './notes.ts';
import type { Quirks } from './presets.ts';
import { createSettings } from './settings.ts';
import { pidRecord } from './pid-record.ts';
import {
  type AgentAbilities,
  type AgentProcessTimings,
  type AgentProcess,
  AgentFailure,
  errorCodes,
  startAgentProcess,
} from './process.ts';

export interface AcpOptions {
  program: string;
  args: readonly string[];
  /** Added to the environment of the daemon. */
  env?: Readonly<Record<string, string>>;
  rules: ProjectRules;
  quirks?: Quirks;
  /** Advice for a person who is not logged in at the agent. */
  login?: string;
  /** Mode that every session is put into (`session/set_mode`). */
  mode?: string | undefined;
  /** Marks the processes of this daemon, so that a crash of it leaves none behind. Equal after a restart, and unique to this daemon. */
  marker: string;
  /** File with the numbers of live processes; the ones that an earlier daemon left there are ended at the start. */
  pidFile?: string;
  maxProcesses?: number;
  /** Its sessions are read by their replay (`listing.ts`), which gives messages their names. */
  listed?: boolean;
  /** Permissions are answered at this machine only. */
  askAtDesk?: AskAtDesk | undefined;
  clock?: Clock;
  timings?: Partial<AcpTimings>;
  log?: Log;
}

export interface AcpAgent extends Agent {
  /**
   * Asks the agent outside every conversation, in a process of its own that is ended afterwards. Rejects with an AgentFailure, also
   * when the agent is being closed.
   */
  visit<T>(visitor: Visitor<T>): Promise<T>;
  /** A live process that may be used outside its conversation, if there is one. */
  borrow(): AgentProcess | undefined;
}

export interface Visitor<T> {
  use: (process: AgentProcess, can: AgentAbilities) => Promise<T>;
  /** `session/update` of any session. */
  onUpdate?: (sessionId: string, update: Fields) => void;
}

export interface AcpTimings extends AgentProcessTimings, ConversationTimings {
  /** A conversation without a turn and without a question keeps its process this long. */
  idleMs: number;
}

export const acpTimings: AcpTimings = {
  ...killTimings,
  initializeMs: 60_000,
  openMs: 60_000,
  exitMs: 1500,
  leaveMs: 2000,
  cancelMs: 10_000,
  questionMs: 86_400_000,
  idleMs: 300_000,
};

/** Variable in the environment of every agent process; its value is the marker. */
export const markerVariable = 'RELAY_DAEMON_AGENT';
const tooLate = 'The agent no longer waits for this answer. Nothing was sent to it.';
const answerFirst =
  'The agent is waiting for an answer, and an answer cannot contain images. Answer first, then send the images.';

export function acpAgent(options: AcpOptions): AcpAgent {
  const { clock = systemClock, log = silentLog, quirks = {}, maxProcesses = 16 } = options;
  const timings: AcpTimings = { ...acpTimings, ...options.timings };
  const env = { ...process.env, ...options.env, [markerVariable]: options.marker };
  /** With a live process. */
  const conversations = new Map<string, Conversation>();
  /** Earlier sessions whose process is being started. */
  const reopening = new Map<string, Promise<Conversation>>();
  /** Idle processes that are shutting down. */
  const leaving = new Map<string, Promise<void>>();
  /** Every process that may still live, also of conversations that are being opened. */
  const processes = new Set<AgentProcess>();

  const marked = `${markerVariable}=${options.marker}`;
  const pids = pidRecord(options.pidFile, log);
  for (const pid of pids.left) {
    if (killLeftOver(pid, marked)) log.info('agent left over by an earlier daemon ended', { pid });
  }

  const notes = createNotes();
  const settings = createSettings(timings.openMs);
  let closed = false;
  const start = (
    cwd: string,
    onUpdate?: Visitor<unknown>['onUpdate'],
  ): { agent: AgentProcess; link: (conversation: Conversation) => void } => {
    let conversation: Conversation | undefined;
    const agent = startAgentProcess({
      program: options.program,
      args: options.args,
      env,
      cwd,
      login: options.login ?? 'Log in with the agent in a terminal.',
      clock,
      timings,
      log,
      onUpdate:
        onUpdate ??
        ((sessionId, update) => {
          notes.heard(sessionId, update);
          settings.heard(sessionId, update);
          conversation?.update(sessionId, update);
        }),
      onPermission: (request, signal) =>
        conversation?.permission(request, signal) ?? Promise.resolve({ outcome: { outcome: 'cancelled' } }),
      onForm: (request, signal) => conversation?.form(request, signal) ?? Promise.resolve({ action: 'cancel' }),
    });
    processes.add(agent);
    pids.write(processes);
    void agent.gone.then((how) => {
      processes.delete(agent);
      pids.write(processes);
      log.info('agent process ended', { pid: agent.pid, how: how.split('\n')[0] });
    });
    return { agent, link: (linked) => (conversation = linked) };
  };

  /** Ends an idle process. The next use of the conversation waits until it is gone: some agents hold a lock on it. */
  const dismiss = (conversation: Conversation) => {
    const { sessionId } = conversation;
    conversations.delete(sessionId);
    const gone = conversation.end().finally(() => leaving.delete(sessionId));
    leaving.set(sessionId, gone);
  };

  /** Assigns the process to this conversation. */
  const keep = (sessionId: string, cwd: string, started: ReturnType<typeof start>): Conversation => {
    const { agent, link } = started;
    const conversation = createConversation({
      sessionId,
      cwd,
      agent,
      quirks,
      clock,
      timings,
      askAtDesk: options.askAtDesk,
    });
    link(conversation);
    conversations.set(sessionId, conversation);
    let cancelIdle = () => {};
    let dead = false;
    conversation.onIdle((idle) => {
      cancelIdle();
      if (idle && !dead) cancelIdle = clock.after(timings.idleMs, () => dismiss(conversation));
    });
    void agent.gone.then(() => {
      dead = true;
      cancelIdle();
      if (conversations.get(sessionId) === conversation) conversations.delete(sessionId);
      conversation.lost();
    });
    return conversation;
  };

  /** Ends the process that has been idle longest when there are too many. */
  const makeRoom = () => {
    if (processes.size < maxProcesses) return;
    const idle = [...conversations.values()].find((conversation) => conversation.idle());
    if (!idle) {
      throw new AgentFailure(
        `${processes.size} agents are at work on this machine already. Wait until one of them is done.`,
      );
    }
    dismiss(idle);
  };

  const folderOf = (path: string): string => {
    const project = projectFolder(path, options.rules);
    if ('error' in project) throw new AgentFailure(project.error);
    return project.directory;
  };

  /** Runs `use` with a fresh process, and ends the process when that fails or is no longer wanted. */
  const withProcess = async <T>(
    cwd: string,
    onPid: (pid: number) => void,
    signal: AbortSignal,
    use: (started: ReturnType<typeof start>, abilities: AgentAbilities) => Promise<T>,
  ): Promise<T> => {
    makeRoom();
    const started = start(cwd);
    const { agent } = started;
    if (agent.pid !== undefined) onPid(agent.pid);
    const stop = () => void agent.kill();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await use(started, await agent.ready);
    } catch (error) {
      void agent.kill();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };

  const setMode = async (agent: AgentProcess, sessionId: string) => {
    if (options.mode === undefined) return;
    await agent.request('session/set_mode', { sessionId, modeId: options.mode }, timings.openMs);
    settings.inMode(sessionId, options.mode);
  };

  /** Restores the person's settings in every new process of the session. */
  const chooseAgain = async (agent: AgentProcess, sessionId: string) => {
    for (const change of settings.forgotten(sessionId))
      await settings.change(agent, sessionId, change).catch((error: unknown) => {
        log.warn('setting not restored', {
          session: sessionId,
          setting: change.id,
          why: reasonOf(error).slice(0, 200),
        });
      });
  };

  const open = async (opening: Opening): Promise<Opened> => {
    const { signal } = opening;
    const cwd = folderOf(opening.projectPath);
    return withProcess(
      cwd,
      (pid) => opening.process(pid),
      signal,
      async (started) => {
        const answer = await started.agent.request('session/new', { cwd, mcpServers: [] }, timings.openMs);
        const { sessionId } = answer;
        // Before its first message: the relay would never accept an event of such a session.
        if (typeof sessionId !== 'string' || !isNativeId(sessionId))
          throw new AgentFailure(unusableId(wordsOf(sessionId)));
        settings.opened(sessionId, answer);
        await setMode(started.agent, sessionId);
        if (signal.aborted) throw new AgentFailure('The task was cancelled.');
        keep(sessionId, cwd, started);
        return { sessionId, projectPath: cwd };
      },
    );
  };

  /** An earlier conversation: resume, else load, else an error that says what to do. */
  const reopen = async (
    turn: Pick<Turn, 'sessionId' | 'projectPath'>,
    onPid: (pid: number) => void,
    signal: AbortSignal,
  ): Promise<Conversation> => {
    if (quirks.neverReload) {
      throw new AgentFailure('This agent cannot continue a session once its process has ended. Start a new session.');
    }
    const { sessionId } = turn;
    const cwd = folderOf(turn.projectPath);
    return withProcess(cwd, onPid, signal, async (started, can) => {
      const { agent } = started;
      const call = (method: string) =>
        agent.request(method, { sessionId, cwd, mcpServers: [] }, timings.openMs).catch((error: unknown) => {
          throw new AgentFailure(
            `The agent cannot continue this session: ${reasonOf(error)}`,
            error instanceof AgentFailure ? error.code : undefined,
            { cause: error },
          );
        });
      let answer: Fields;
      if (can.resume && !quirks.resumeIsLoad) {
        answer = await call('session/resume').catch((error: unknown) => {
          const code = error instanceof AgentFailure ? error.code : undefined;
          // Advertised, but missing, or not for this session: loading may still work.
          if (!can.load || code === undefined || code === errorCodes.authRequired) throw error;
          log.info('resume failed, loading', { session: sessionId, why: reasonOf(error).slice(0, 200) });
          return call('session/load');
        });
      } else if (can.load) answer = await call('session/load');
      else throw new AgentFailure('This agent cannot continue an earlier session. Start a new one.');
      settings.opened(sessionId, answer);
      await setMode(agent, sessionId);
      await chooseAgain(agent, sessionId);
      return keep(sessionId, cwd, started);
    });
  };

  /** The conversation with a usable process; waits until an unusable one has ended. */
  const live = async (sessionId: string): Promise<Conversation | undefined> => {
    const conversation = conversations.get(sessionId);
    if (conversation?.usable()) return conversation;
    if (conversation) dismiss(conversation);
    await leaving.get(sessionId);
    return undefined;
  };

  /** A turn and a question about settings may want the same conversation at once: it is opened for both. */
  const opened: typeof reopen = (turn, onPid, signal) => {
    const { sessionId } = turn;
    const known = reopening.get(sessionId);
    if (known) return known.catch(() => opened(turn, onPid, signal));
    const conversation = reopen(turn, onPid, signal).finally(() => reopening.delete(sessionId));
    reopening.set(sessionId, conversation);
    return conversation;
  };

  const serve = async (turn: Turn, report: TurnReport, signal: AbortSignal): Promise<void> => {
    try {
      let conversation = await live(turn.sessionId);
      if (conversation?.asking() && turn.images) throw new AgentFailure(answerFirst);
      if (conversation) {
        const outcome = await conversation.answer(turn, report, signal);
        if (outcome === 'done' || signal.aborted) return;
        // Its process may have ended meanwhile.
        conversation = await live(turn.sessionId);
      }
      // Without its question a choice is meaningless: as a message it could be taken for a permission.
      if (turn.answer?.option !== undefined || turn.answer?.fields) return report.error(tooLate, 'PROMPT_SUPERSEDED');
      conversation ??= await opened(turn, (pid) => report.process(pid), signal);
      if (signal.aborted) return;
      if (conversation.pid !== undefined) report.process(conversation.pid);
      await conversation.prompt(turn, report, signal);
    } catch (error) {
      report.error(reasonOf(error));
    }
  };

  return {
    // Whether it accepts images is known once its process runs: if it does not, the task says so.
    capabilities: ['images', 'usage', 'settings'],
    holdsQuestions: true,
    tellsUpdates: true,
    ...(options.listed ? { messageName: listedName } : {}),
    context: notes.context,
    async settings(session, change) {
      const { sessionId } = session;
      if (!change && settings.of(sessionId)) return settings.of(sessionId) ?? [];
      if (closed) throw new AgentFailure('The daemon is shutting down.');
      const conversation =
        (await live(sessionId)) ?? (await opened(session, () => undefined, AbortSignal.timeout(timings.openMs)));
      return change ? settings.change(conversation.agent, sessionId, change) : (settings.of(sessionId) ?? []);
    },
    onSettings: settings.onChange,
    onCommands: notes.onCommands,
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
    outdated(sessionId) {
      // A live process does not see what a terminal has added to the session; a new one does.
      const conversation = conversations.get(sessionId);
      if (conversation?.idle() && !quirks.neverReload) dismiss(conversation);
    },
    async visit({ use, onUpdate }) {
      if (closed) throw new AgentFailure('The daemon is shutting down.');
      makeRoom();
      const { agent } = start(folderOf(''), onUpdate);
      try {
        return await use(agent, await agent.ready);
      } finally {
        await agent.end();
      }
    },
    borrow: () => [...conversations.values()].find((conversation) => conversation.usable())?.agent,
    async close() {
      closed = true;
      await Promise.all([...processes].map((agent) => agent.end()));
    },
    reap: ({ pid }) => void killLeftOver(pid, marked),
    abort() {
      closed = true;
      for (const agent of processes) agent.abort();
    },
  };
}
