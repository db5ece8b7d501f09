/**
 * The whole daemon, without command line and without the files of a registration: give it a relay, a credential, an agent and a
 * folder. Several may live in one process, each with its own folder.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  agentsHeader,
  type Capability,
  capabilities,
  type DaemonEvent,
  formatAgents,
  type FromDaemonFrame,
  relayCapabilities,
} from '@relay/protocol';
import type { Agent } from './agent.ts';
import { type FurtherAgent, joinAgents } from './several-agents.ts';
import { contentReader, keepingIn, openContents } from './contents.ts';
import { type Cancel, type Clock, settledWithin, systemClock } from './clock.ts';
import { daemonSocketAddress } from './address.ts';
import {
  type Connection,
  type ConnectionState,
  type ConnectionTimings,
  connectionTimings,
  createConnection,
} from './connection.ts';
import type { Browse } from './folders.ts';
import { makePrivateFolder } from './private-folder.ts';
import { type InboundCounts, createInbound, createWatched } from './inbound.ts';
import { type FinalEvent, forRelay, openJournal } from './journal.ts';
import { type Log, silentLog } from './log.ts';
import type { Ending, Stop } from './reconnect.ts';
import { openQuestions } from './questions.ts';
import { activityOf, reportOf } from './report.ts';
import { withOlder } from './older.ts';
import { type Outside, joinOutside } from './outside.ts';
import { tellSettings } from './settings.ts';
import { rememberCommands } from './slash-commands.ts';
import { reasonOf } from './failure.ts';
import { fileNameOf, openStore } from './store.ts';
import { type TranscriptSettings, createTranscripts, transcriptSettings } from './transcript/transcripts.ts';
import { type TaskTimings, taskTimings } from './task.ts';
import { createTasks } from './tasks.ts';

export interface DaemonTimings extends ConnectionTimings, TaskTimings {
  /** Between `report_sessions` frames. */
  reportIntervalMs: number;
  /** Between checks of the watched sessions that the agent keeps by itself. */
  watchIntervalMs: number;
  /** The time in which changes of a transcript are joined. */
  joinMs: number;
  /** The time that a stopping daemon gives the relay to receive the last frames. */
  farewellMs: number;
}

export interface DaemonOptions {
  /** Base address of the relay, http or https. */
  server: string;
  deviceId: string;
  refreshToken: string;
  agentType: string;
  agent: Agent;
  /** Access to the sessions that the agent keeps by itself: sessions started locally are then reported, and can be continued. */
  outside?: Outside;
  /** Shows apps the folders in which a session may be started. Without it they see none. */
  browse?: Browse | undefined;
  /** Name and version of the agent, for people. */
  product?: { name?: string; version?: string } | undefined;
  /** Agents that a person can choose instead, each with the sessions that it began. Default: none. */
  further?: readonly FurtherAgent[] | undefined;
  /** Folder of history and journal. Created if needed; never shared by two daemons. */
  storeDir: string;
  /** The value of `X-Daemon-Version`. */
  daemonVersion: string;
  /** Maximum number of tasks that run at the same time; the rest wait in order. Default 8. */
  maxAgents?: number | undefined;
  /** The part of a transcript that is sent to a relay that accepts it. Default: everything. */
  transcript?: Partial<TranscriptSettings> | undefined;
  timings?: Partial<DaemonTimings>;
  clock?: Clock;
  /** In [0, 1); spreads the reconnects. */
  random?: () => number;
  log?: Log;
  /** After every change of the connection or of the running tasks. */
  onChange?: (state: DaemonState) => void;
}

export interface DaemonState {
  connection: 'idle' | 'connecting' | 'connected' | 'waiting' | 'stopped';
  /** When the connection entered this state, ISO 8601. */
  since: string;
  /** When it was last open, ISO 8601. */
  lastConnectedAt?: string;
  /** The reason why it is not open. */
  problem?: string;
  /** The time of the next attempt, ISO 8601. */
  nextAttemptAt?: string;
  runningTasks: string[];
}

export interface Daemon {
  /** Reads the folder and begins to connect; reconnects by itself until stopped. Throws when the folder cannot be used. */
  start(): void;
  /** Ends the running tasks with ERROR, sends these ends to the relay, and closes. Resolves when the socket and the agents are gone. */
  stop(): Promise<void>;
  /** Ends agents at once, because the process is about to exit. */
  abort(): void;
  /** Resolves when the socket is open and `status` and `report_sessions` were written; at once if that is so now. */
  connected(): Promise<void>;
  /** Resolves when the daemon has ended: stopped, or refused for good by the relay. */
  ended: Promise<Stop>;
  state(): DaemonState;
  counts(): InboundCounts;
}

/** Watched sessions beyond this number are checked only on request. */
const maxLookedAt = 200;

const defaults: DaemonTimings = {
  ...connectionTimings,
  ...taskTimings,
  reportIntervalMs: 30_000,
  watchIntervalMs: 1000,
  farewellMs: 2000,
  joinMs: 250,
};

export function createDaemon(options: DaemonOptions): Daemon {
  const { storeDir, clock = systemClock, random = Math.random, log = silentLog, onChange } = options;
  const timings: DaemonTimings = { ...defaults, ...options.timings };
  const time = (ms: number) => new Date(ms).toISOString();
  const state: DaemonState = { connection: 'idle', since: time(clock.now()), runningTasks: [] };
  const waiting: (() => void)[] = [];
  let started: ReturnType<typeof assemble> | undefined;
  let stopping: Promise<void> | undefined;
  let over: (stop: Stop) => void = () => undefined;
  const ended = new Promise<Stop>((resolve) => (over = resolve));

  const changed = (change: Partial<DaemonState>) => {
    Object.assign(state, change);
    onChange?.({ ...state, runningTasks: [...state.runningTasks] });
  };

  function assemble() {
    makePrivateFolder(storeDir);
    const store = openStore(join(storeDir, 'sessions'), () => clock.now());
    const { agent, outside } = joinAgents(
      { agent: options.agent, outside: options.outside },
      options.further ?? [],
      (sessionId) => store.session(sessionId)?.agentType,
    );
    if (store.unreadable > 0) log.warn('history lines skipped', { lines: store.unreadable });
    const contents = openContents({
      folder: join(storeDir, 'sessions'),
      nameOf: fileNameOf,
      onTrouble: (error) => log.warn('content not kept', { why: reasonOf(error) }),
    });
    const journal = openJournal({
      file: join(storeDir, 'tasks.jsonl'),
      onTrouble: (what, why) => log.warn(what, { why }),
    });
    const questions = openQuestions({
      file: join(storeDir, 'questions.json'),
      clock,
      onTrouble: (what, why) => log.warn(what, { why }),
    });
    const watched = createWatched();
    const settings: TranscriptSettings = { ...transcriptSettings, ...options.transcript };
    /** The capabilities of the relay at the other end of the connection. */
    let declared: ReadonlySet<string> = new Set();
    const tellsPrompts = () => tellsTranscript() && declared.has(relayCapabilities.prompts);
    const tellsTranscript = () => settings.detail !== 'off' && declared.has(relayCapabilities.transcript);
    const idOf = (sessionId: string) =>
      agent.nameOf ? agent.nameOf(sessionId) : agent.messageName && agent.messageName.bind(agent);
    const transcripts = createTranscripts({
      store,
      contents,
      clock,
      settings,
      joinMs: timings.joinMs,
      idOf,
      frames: () => (tellsTranscript() ? (frame) => void send(frame, true) : undefined),
      said: (event) => void (tellsTranscript() && send(event)),
      closed(sessionId, taskId, uuid, state) {
        const about = { type: 'event', task_id: taskId, session_id: sessionId } as const;
        const status = tasks.isActive(sessionId) ? 'active' : 'idle';
        if (tellsPrompts()) send({ ...about, event_type: 'PROMPT_CLOSED', uuid, state, status });
      },
      keepsQuestions: agent.holdsQuestions !== true,
      isWatched: (sessionId) => watched.has(sessionId),
    });
    let cancelReport: Cancel = () => undefined;
    let cancelWatch: Cancel = () => undefined;
    const joined = joinOutside({
      store,
      outside,
      settingsOf: (sessionId, cwd) => ({
        sessionId,
        cwd,
        idOf: idOf(sessionId),
        detail: settings.detail === 'outline' ? 'outline' : 'full',
        thoughts: settings.thoughts,
      }),
      keepOf: (sessionId) => keepingIn(contents, sessionId),
      isBusy: (sessionId) => tasks.isActive(sessionId),
      onWritten: transcripts.written,
    });
    const stamps = new Map<string, string | undefined>();

    const send = (frame: FromDaemonFrame, hot = false) => connection.send(JSON.stringify(frame), hot);
    const sendStatus = () =>
      send({
        type: 'status',
        running_tasks: tasks.running(),
        ...(tellsPrompts() ? { open_prompts: tasks.asking().map(({ question }) => question.uuid) } : {}),
      });
    /** The sessions, as far as the agent's files can be read. */
    const known = () => {
      try {
        return joined.sessions();
      } catch (error) {
        log.warn('local sessions not read', { why: reasonOf(error) });
        return store.sessions();
      }
    };
    /** Adds messages written locally to the history, and sends them to the watchers of the session. */
    const takeOver = (sessionId: string) => {
      const { added, completed } = joined.sync(sessionId);
      if (added > 0) agent.outdated?.(sessionId);
      const session = added > 0 && watched.has(sessionId) ? store.session(sessionId) : undefined;
      if (session) send(activityOf(session, completed, tellsTranscript()));
    };
    /** The fetch that must finish before a session can be read; undefined when everything is available. */
    const bring = (sessionId: string) =>
      tasks.isActive(sessionId) ? undefined : outside?.fetch?.(sessionId, store.session(sessionId)?.lastActivity);
    /** A reader of the agent's files can fail in any way; the daemon continues without it. */
    const tried = (sessionId: string, read: () => void) => () => {
      try {
        read();
      } catch (error) {
        log.warn('local session not read', { session: sessionId, why: reasonOf(error) });
      }
    };
    /** From here on local changes are sent; earlier messages can be requested. */
    const watch = (sessionId: string) => {
      tried(sessionId, () => {
        if (!watched.has(sessionId)) joined.sync(sessionId);
        stamps.set(sessionId, joined.stamp(sessionId));
      })();
      watched.add(sessionId);
    };
    /** Watched sessions that changed locally. Reads only their stamps unless one has changed. */
    const look = () => {
      cancelWatch();
      for (const sessionId of watched.all().slice(-maxLookedAt)) {
        const take = tried(sessionId, () => takeOver(sessionId));
        tried(sessionId, () => {
          const stamp = joined.stamp(sessionId);
          if (stamps.get(sessionId) === stamp || tasks.isActive(sessionId)) return;
          stamps.set(sessionId, stamp);
          const wait = bring(sessionId);
          if (wait) void wait.then(take);
          else take();
        })();
      }
      refresh();
      if (outside) cancelWatch = clock.after(timings.watchIntervalMs, look);
    };
    const report = () => send(reportOf(known(), (sessionId) => tasks.isBusy(sessionId), undefined, tellsTranscript()));
    const sendReport = () => {
      cancelReport();
      report();
      cancelReport = clock.after(timings.reportIntervalMs, sendReport);
    };
    /** An agent that must be asked for its sessions replies later; new ones are reported then. */
    const refresh = () => {
      void outside?.refresh?.().then((isNew) => {
        if (isNew && state.connection === 'connected') report();
      });
    };

    const tasks = createTasks({
      agent,
      offers: (agentType) => options.further?.some((one) => one.agentType === agentType) === true,
      store,
      transcripts,
      sync: takeOver,
      bring,
      journal,
      questions,
      namesQuestions: tellsPrompts,
      log,
      clock,
      timings,
      maxAgents: options.maxAgents,
      voice: {
        status() {
          sendStatus();
          changed({ runningTasks: tasks.running() });
        },
        event(event) {
          // Already in its transcript.
          if (event.event_type === 'OUTPUT' && tellsTranscript()) return;
          send(event, event.event_type !== 'SESSION_STARTED');
        },
        asked(event) {
          received.delete(event.question.uuid);
          ask(event);
        },
        final(event) {
          if (send(forRelay(event, tellsTranscript(), tellsPrompts()))) connection.confirm(() => settled([event]));
        },
        activity(sessionId, isCompletion) {
          const session = watched.has(sessionId) ? store.session(sessionId) : undefined;
          if (session) send(activityOf(session, isCompletion, tellsTranscript()));
        },
      },
    });
    const settled = (ends: readonly FinalEvent[]) => {
      for (const end of ends) if (end.event_type === 'WAIT_FOR_USER' && end.question) received.add(end.question.uuid);
      for (const taskId of journal.delivered(ends)) tasks.heard(taskId);
    };
    /** Open questions that the relay has received. */
    const received = new Set<string>();
    const ask = (event: DaemonEvent<'PROMPT_OPEN'>) => {
      if (tellsPrompts() && send(event)) connection.confirm(() => received.add(event.question.uuid));
    };
    /** After `status`: what is asked while the connection is away, or lost with it, is asked again. */
    const askAgain = () => {
      const open = tasks.asking();
      const uuids = new Set(open.map(({ question }) => question.uuid));
      for (const uuid of received) if (!uuids.has(uuid)) received.delete(uuid);
      for (const event of open) if (!received.has(event.question.uuid)) ask(event);
    };
    const commands = rememberCommands(agent, (frame) => void send(frame));
    tellSettings(agent, clock, (frame) => void (declared.has(relayCapabilities.settings) && send(frame)));
    const inbound = createInbound({
      tasks,
      agent,
      store: { ...store, ...withOlder(store, (sessionId, place) => joined.before(sessionId, place)) },
      sync: takeOver,
      bring,
      watched: { ...watched, add: watch },
      reader: () => (tellsTranscript() ? 'spoken' : 'messages'),
      flush: transcripts.flush,
      content: settings.detail === 'off' ? undefined : contentReader(contents, (id, uuid) => joined.keep(id, uuid)),
      browse: options.browse,
      send: (frame) => void send(frame),
      log,
    });

    const onOpen = (now: ReadonlySet<string>) => {
      declared = now;
      watched.clear();
      // Before `status`: the relay must not settle as lost a task that ended while the daemon was offline.
      const owed = journal.owed();
      for (const event of owed) send(forRelay(event, tellsTranscript(), tellsPrompts()));
      if (owed.length > 0) {
        log.info('results delivered late', { count: owed.length });
        connection.confirm(() => settled(owed));
      }
      sendStatus();
      askAgain();
      tasks.tellWaiting();
      sendReport();
      commands.tell();
      stamps.clear();
      look();
      for (const resolve of waiting.splice(0)) resolve();
    };

    const onState = (now: ConnectionState) => {
      delete state.problem;
      delete state.nextAttemptAt;
      const since = time(clock.now());
      switch (now.phase) {
        case 'connecting':
          return changed({ connection: 'connecting', since });
        case 'connected':
          log.info('connected', { server: options.server, device: options.deviceId });
          return changed({ connection: 'connected', since, lastConnectedAt: since });
        case 'waiting': {
          cancelReport();
          cancelWatch();
          const problem = problemOf(now.ending);
          log.warn('disconnected', { why: problem, retryInMs: now.waitMs });
          return changed({ connection: 'waiting', since, problem, nextAttemptAt: time(clock.now() + now.waitMs) });
        }
        case 'stopped':
          cancelReport();
          cancelWatch();
          if (now.stop.reason === 'stopped') {
            log.info('stopped');
            return changed({ connection: 'stopped', since });
          }
          log.warn('refused by the relay', { reason: now.stop.reason });
          changed({ connection: 'stopped', since, problem: now.stop.message });
          // The outcome of the tasks can no longer be delivered.
          stopping ??= tasks.stop(now.stop.message);
          void stopping.then(() => over(now.stop));
      }
    };

    const connection: Connection = createConnection({
      url: daemonSocketAddress(options.server),
      headers: {
        Authorization: `Bearer ${options.refreshToken}`,
        'X-Device-ID': options.deviceId,
        'X-Agent-Type': options.agentType,
        'X-Daemon-Version': options.daemonVersion,
        // Only for people, when two machines use the same registration; a header allows no other characters.
        'X-Daemon-Hostname': hostname().replace(/[^\x21-\x7e]/g, ''),
        ...agentsIn(options),
        'X-Daemon-Capabilities': capabilitiesOf(agent, settings, options.browse).join(', '),
      },
      clock,
      random,
      timings,
      onOpen,
      onText: inbound.receive,
      onState,
    });
    return { agent, tasks, connection, inbound, journal };
  }

  const leave = async ({ tasks, connection, journal }: ReturnType<typeof assemble>) => {
    await tasks.stop('The daemon was stopped.');
    if (state.connection === 'connected' && journal.owed().length > 0) {
      const received = new Promise<void>((resolve) => connection.confirm(resolve));
      await settledWithin(clock, timings.farewellMs, received);
    }
    await connection.close();
    over({ reason: 'stopped', message: 'The daemon was stopped.' });
  };

  return {
    start() {
      if (started) throw new TypeError('the daemon was already started');
      started = assemble();
      started.tasks.recover();
      started.connection.start();
    },
    stop() {
      if (!started) {
        over({ reason: 'stopped', message: 'The daemon was stopped.' });
        return Promise.resolve();
      }
      stopping ??= leave(started);
      return stopping;
    },
    abort: () => started?.agent.abort?.(),
    connected() {
      if (state.connection === 'connected') return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    ended,
    state: () => ({ ...state, runningTasks: [...state.runningTasks] }),
    counts: () => started?.inbound.counts() ?? { unknown: 0, invalid: 0 },
  };
}

/** Nothing for a daemon that has one agent, and says nothing of it. */
function agentsIn({ agentType, product, further = [] }: DaemonOptions): Record<string, string> {
  if (!product && further.length === 0) return {};
  return { [agentsHeader]: formatAgents([{ agentType, ...product }, ...further]) };
}

/** A relay that does not know a name ignores it. */
const capabilitiesOf = (agent: Agent, { detail }: TranscriptSettings, browse?: Browse): Capability[] => [
  capabilities.receipts,
  ...(agent.capabilities ?? []),
  ...(browse ? [capabilities.browse] : []),
  ...(detail === 'off' ? [] : [capabilities.transcript, capabilities.prompts, capabilities.content]),
];

function problemOf(ending: Ending): string {
  switch (ending.kind) {
    case 'closed':
      return `the connection was closed (${ending.code}${ending.reason ? ` ${ending.reason}` : ''})`;
    case 'refused':
    case 'failed':
      return ending.message;
  }
}
