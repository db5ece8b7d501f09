/**
 * The processes of an agent: one for each conversation in use, up to a limit. An idle process stops after a while, or
 * when another conversation needs its place, unless its session would be lost with it.
 */
import { type Fields, type ReachedLimit, type TurnReport, silentLog, systemClock } from '@relay/daemon-kit';
import { agentEnvironment } from '../environment.ts';
import { killLeftOver } from '../process-group.ts';
import { type Conversation, createConversation } from './conversation.ts';
import type { AcpOptions, AcpTimings } from './options.ts';
import { pidRecord } from './pid-record.ts';
import { type AgentAbilities, type AgentProcess, AgentFailure, startAgentProcess } from './process.ts';

/** A process, and the way to give it its conversation. */
interface Started {
  agent: AgentProcess;
  link: (conversation: Conversation) => void;
}

/** `session/update` of any session. */
export type OnUpdate = (sessionId: string, update: Fields) => void;

export interface ProcessPool {
  /** Conversations with a live process, by session. */
  readonly conversations: ReadonlyMap<string, Conversation>;
  /**
   * Starts a process; `onUpdate` receives its updates in place of the conversation. @throws AgentFailure when the pool
   * is full
   */
  start: (cwd: string, onUpdate?: OnUpdate) => Started;
  /** Gives the process to this conversation. */
  keep: (sessionId: string, cwd: string, started: Started) => Conversation;
  /** Stops an idle process. The next use of the conversation waits until it is gone: some agents hold a lock on it. */
  dismiss: (conversation: Conversation) => void;
  /** Runs `use` with a fresh process, and stops the process when `use` fails or becomes unwanted. */
  withProcess: <T>(
    cwd: string,
    onPid: (pid: number) => void,
    signal: AbortSignal,
    use: (started: Started, abilities: AgentAbilities) => Promise<T>,
  ) => Promise<T>;
  /** Returns the conversation with a usable process; waits until an unusable one has exited. */
  live: (sessionId: string) => Promise<Conversation | undefined>;
  /** Kills a process that an earlier daemon left running. */
  reap: (pid: number) => void;
  /** Stops all processes gracefully. */
  close: () => Promise<void>;
  /** Kills all processes at once. */
  abort: () => void;
}

interface PoolSurroundings {
  timings: AcpTimings;
  /** Any update of a conversation. Returns it as the conversation gets it; undefined if the log has it already. */
  observe: (sessionId: string, update: Fields) => Fields | undefined;
  /** A process reported its abilities. */
  ready: (abilities: AgentAbilities) => void;
  /** As in a conversation. */
  ownTurn: (sessionId: string) => TurnReport;
  unknownCommand: (sessionId: string, message: string) => string | undefined;
  /** The usage limit that a failure in this session reports. */
  limitOf: (sessionId: string, error: unknown) => ReachedLimit | undefined;
}

/** Variable in the environment of every agent process; its value is the marker. */
export const markerVariable = 'RELAY_DAEMON_AGENT';
export function createProcessPool(
  options: AcpOptions,
  { timings, observe, ready, ownTurn, unknownCommand, limitOf }: PoolSurroundings,
): ProcessPool {
  const { clock = systemClock, log = silentLog, quirks = {}, maxProcesses = 16 } = options;
  const { startProcess = startAgentProcess } = options;
  const env = agentEnvironment({ ...options.env, [markerVariable]: options.marker });
  const conversations = new Map<string, Conversation>();
  /** Idle processes that are shutting down. */
  const leaving = new Map<string, Promise<void>>();
  /** Every process that might still be alive, also of conversations that are being opened. */
  const processes = new Set<AgentProcess>();

  const marked = `${markerVariable}=${options.marker}`;
  const pids = pidRecord(options.pidFile, log);
  for (const pid of pids.left) {
    if (killLeftOver(pid, marked)) log.info('agent left over by an earlier daemon ended', { pid });
  }

  const start = (cwd: string, onUpdate?: OnUpdate): Started => {
    let conversation: Conversation | undefined;
    const agent = startProcess({
      program: options.program,
      args: options.args,
      env,
      cwd,
      login: options.login ?? 'Log in with the agent in a terminal.',
      authMethod: options.authMethod,
      clock,
      timings,
      log,
      onUpdate:
        onUpdate ??
        ((sessionId, update) => {
          const kept = observe(sessionId, update);
          if (kept) conversation?.update(sessionId, kept);
        }),
      onPermission: (request, signal) =>
        conversation?.permission(request, signal) ?? Promise.resolve({ outcome: { outcome: 'cancelled' } }),
      onForm: (request, signal) => conversation?.form(request, signal) ?? Promise.resolve({ action: 'cancel' }),
    });
    processes.add(agent);
    agent.ready.then(ready, () => undefined);
    pids.write(processes);
    void agent.gone.then((how) => {
      processes.delete(agent);
      pids.write(processes);
      log.info('agent process ended', { pid: agent.pid, how: how.split('\n')[0] });
    });
    return { agent, link: (linked) => (conversation = linked) };
  };

  const dismiss = (conversation: Conversation) => {
    const { sessionId } = conversation;
    conversations.delete(sessionId);
    const gone = conversation.end().finally(() => leaving.delete(sessionId));
    leaving.set(sessionId, gone);
  };

  const keep = (sessionId: string, cwd: string, started: Started): Conversation => {
    const { agent, link } = started;
    const conversation = createConversation({
      sessionId,
      cwd,
      agent,
      quirks,
      clock,
      timings,
      askAtDesk: options.askAtDesk,
      noFullAccess: options.noFullAccess,
      ownTurn,
      unknownCommand,
      limitOf: (error) => limitOf(sessionId, error),
      wasRead: options.wasRead,
      log,
    });
    link(conversation);
    conversations.set(sessionId, conversation);
    let cancelIdle = () => {};
    let dead = false;
    conversation.onIdle((idle) => {
      cancelIdle();
      // They are in order of their last use: the first idle process has been idle longest.
      if (idle && conversations.get(sessionId) === conversation) {
        conversations.delete(sessionId);
        conversations.set(sessionId, conversation);
      }
      // A session that cannot be continued without its process keeps it.
      if (idle && !dead && !quirks.neverReload) cancelIdle = clock.after(timings.idleMs, () => dismiss(conversation));
    });
    void agent.gone.then(() => {
      dead = true;
      cancelIdle();
      if (conversations.get(sessionId) === conversation) conversations.delete(sessionId);
      conversation.lost();
    });
    return conversation;
  };

  /** Stops the longest idle process when there are too many. */
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

  const withProcess: ProcessPool['withProcess'] = async (cwd, onPid, signal, use) => {
    makeRoom();
    const started = start(cwd);
    const { agent } = started;
    if (agent.pid !== undefined) onPid(agent.pid);
    return useProcess(started, signal, use);
  };

  const live = async (sessionId: string): Promise<Conversation | undefined> => {
    const conversation = conversations.get(sessionId);
    if (conversation?.usable()) return conversation;
    if (conversation) dismiss(conversation);
    await leaving.get(sessionId);
    return undefined;
  };

  return {
    conversations,
    start(cwd, onUpdate) {
      makeRoom();
      return start(cwd, onUpdate);
    },
    keep,
    dismiss,
    withProcess,
    live,
    reap: (pid) => void killLeftOver(pid, marked),
    close: async () => void (await Promise.all([...processes].map((agent) => agent.end()))),
    abort() {
      for (const agent of processes) agent.abort();
    },
  };
}

/** Runs `use` when the process is ready, and stops the process when `use` fails or becomes unwanted. */
async function useProcess<T>(
  started: Started,
  signal: AbortSignal,
  use: (started: Started, abilities: AgentAbilities) => Promise<T>,
): Promise<T> {
  const { agent } = started;
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
}
