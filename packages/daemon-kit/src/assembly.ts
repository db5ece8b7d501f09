/** The parts of a daemon, put together: files, agents, transcripts, tasks, and the frames between them and the relay. */
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
import { createAsking } from './asking.ts';
import { joinAgents } from './several-agents.ts';
import { contentReader, keepingIn, openContents } from './contents.ts';
import { type Cancel, systemClock } from './clock.ts';
import { daemonSocketAddress } from './address.ts';
import { type Connection, type ConnectionState, createConnection } from './connection.ts';
import { type DaemonOptions, type DaemonTimings, daemonTimings } from './daemon-options.ts';
import { type ShownState, isOpen } from './daemon-state.ts';
import type { Browse } from './folders.ts';
import { makePrivateFolder } from './private-folder.ts';
import { type Inbound, type Watched, createInbound, createWatched } from './inbound.ts';
import { type FinalEvent, type Journal, forRelay, openJournal } from './journal.ts';
import { createLocalSessions } from './local-sessions.ts';
import { silentLog } from './log.ts';
import type { Stop } from './reconnect.ts';
import { openQuestions } from './questions.ts';
import { activityOf, reportOf } from './report.ts';
import { withOlder } from './older.ts';
import { type Joined, type Outside, joinOutside } from './outside.ts';
import { tellSettings } from './settings.ts';
import { rememberCommands } from './slash-commands.ts';
import { reasonOf } from './failure.ts';
import { type Store, fileNameOf, openStore } from './store.ts';
import type { Tasks, Voice } from './task.ts';
import {
  type TranscriptSettings,
  type Transcripts,
  createTranscripts,
  transcriptSettings,
} from './transcript/transcripts.ts';
import { createTasks } from './tasks.ts';

/** The life of the daemon, as its parts change it. */
export interface Life {
  shown: ShownState;
  /** The socket is open, and `status` and `report_sessions` were written. */
  onOpened: () => void;
  /** The relay has refused this daemon for good: the outcome of its tasks can no longer be delivered. */
  onRefused: (stop: Stop) => void;
}

export interface Assembled {
  agent: Agent;
  tasks: Tasks;
  connection: Connection;
  inbound: Inbound;
  journal: Journal;
}

/** Opens the files of the daemon, which no other daemon may use. Throws when the folder cannot be used. */
function openFiles({ storeDir, clock = systemClock, log = silentLog }: DaemonOptions) {
  makePrivateFolder(storeDir);
  const store = openStore(join(storeDir, 'sessions'), () => clock.now());
  if (store.unreadable > 0) log.warn('history lines skipped', { lines: store.unreadable });
  const onTrouble = (what: string, why: string) => log.warn(what, { why });
  return {
    store,
    contents: openContents({
      folder: join(storeDir, 'sessions'),
      nameOf: fileNameOf,
      onTrouble: (error) => log.warn('content not kept', { why: reasonOf(error) }),
    }),
    journal: openJournal({ file: join(storeDir, 'tasks.jsonl'), onTrouble }),
    questions: openQuestions({ file: join(storeDir, 'questions.json'), clock, onTrouble }),
  };
}

/** Reads the folder. Throws when it cannot be used. */
export function assemble(options: DaemonOptions, { shown, onOpened, onRefused }: Life): Assembled {
  const { clock = systemClock, random = Math.random, log = silentLog } = options;
  const timings: DaemonTimings = { ...daemonTimings, ...options.timings };
  const files = openFiles(options);
  const { store, contents, journal, questions } = files;
  const { agent, outside } = joinAgents(
    { agent: options.agent, outside: options.outside },
    options.further ?? [],
    (sessionId) => store.session(sessionId)?.agentType,
  );
  const watched = createWatched();
  const settings: TranscriptSettings = { ...transcriptSettings, ...options.transcript };
  const talk = createTalk(settings, (frame, hot) => connection.send(JSON.stringify(frame), hot));
  const { send, tellsPrompts, tellsTranscript } = talk;
  const { transcripts, joined } = openTranscripts({
    options,
    files,
    agent,
    outside,
    settings,
    talk,
    isActive: (sessionId) => tasks.isActive(sessionId),
    isWatched: (sessionId) => watched.has(sessionId),
  });

  const sendStatus = () =>
    send({
      type: 'status',
      running_tasks: tasks.running(),
      ...(tellsPrompts() ? { open_prompts: tasks.asking().map(({ question }) => question.uuid) } : {}),
    });
  let cancelReport: Cancel = () => undefined;
  const report = () =>
    send(reportOf(local.known(), (sessionId) => tasks.isBusy(sessionId), undefined, tellsTranscript()));
  const sendReport = () => {
    cancelReport();
    report();
    cancelReport = clock.after(timings.reportIntervalMs, sendReport);
  };
  const local = createLocalSessions({
    agent,
    outside,
    joined,
    store,
    watched,
    isActive: (sessionId) => tasks.isActive(sessionId),
    isSpoken: tellsTranscript,
    send,
    onNew: () => isOpen(shown) && report(),
    clock,
    intervalMs: timings.watchIntervalMs,
    log,
  });

  const asking = createAsking({
    open: () => tasks.asking(),
    send: (event, received) => {
      if (tellsPrompts() && send(event)) connection.confirm(received);
    },
  });
  const settled = (ends: readonly FinalEvent[]) => {
    asking.settled(ends);
    for (const taskId of journal.delivered(ends)) tasks.heard(taskId);
  };
  const tasks = createTasks({
    agent,
    offers: (agentType) => options.further?.some((one) => one.agentType === agentType) === true,
    store,
    transcripts,
    sync: local.sync,
    bring: local.bring,
    journal,
    questions,
    namesQuestions: tellsPrompts,
    log,
    clock,
    timings,
    maxAgents: options.maxAgents,
    voice: voiceOf({
      talk,
      watched,
      store,
      onStatus() {
        sendStatus();
        shown.running(tasks.running());
      },
      asked: asking.repeat,
      final(event) {
        if (send(forRelay(event, tellsTranscript(), tellsPrompts()))) connection.confirm(() => settled([event]));
      },
    }),
  });
  const commands = rememberCommands(agent, (frame) => void send(frame));
  tellSettings(agent, clock, (frame) => void (talk.isDeclared(relayCapabilities.settings) && send(frame)));
  const inbound = createInbound({
    tasks,
    agent,
    store: { ...store, ...withOlder(store, (sessionId, place) => joined.before(sessionId, place)) },
    sync: local.sync,
    bring: local.bring,
    watched: { ...watched, add: local.watch },
    reader: () => (tellsTranscript() ? 'spoken' : 'messages'),
    flush: transcripts.flush,
    content: settings.detail === 'off' ? undefined : contentReader(contents, (id, uuid) => joined.keep(id, uuid)),
    browse: options.browse,
    send: (frame) => void send(frame),
    log,
  });

  const onOpen = (now: ReadonlySet<string>) => {
    talk.declare(now);
    watched.clear();
    // Before `status`: the relay must not settle as lost a task that ended while the daemon was offline.
    const owed = journal.owed();
    for (const event of owed) send(forRelay(event, tellsTranscript(), tellsPrompts()));
    if (owed.length > 0) {
      log.info('results delivered late', { count: owed.length });
      connection.confirm(() => settled(owed));
    }
    sendStatus();
    asking.again();
    tasks.tellWaiting();
    sendReport();
    commands.tell();
    local.look();
    onOpened();
  };

  const onState = (now: ConnectionState) => {
    if (now.phase === 'waiting' || now.phase === 'stopped') {
      cancelReport();
      local.stop();
    }
    shown.connection(now);
    if (now.phase === 'stopped' && now.stop.reason !== 'stopped') onRefused(now.stop);
  };

  const connection: Connection = createConnection({
    url: daemonSocketAddress(options.server),
    headers: headersOf(options, capabilitiesOf(agent, settings, options.browse)),
    clock,
    random,
    timings,
    onOpen,
    onText: inbound.receive,
    onState,
  });
  return { agent, tasks, connection, inbound, journal };
}

/** The transcripts of the tasks, and those that the agent keeps by itself. */
function openTranscripts({
  options: { clock = systemClock, timings },
  files: { store, contents },
  agent,
  outside,
  settings,
  talk: { send, tellsTranscript, tellsPrompts },
  isActive,
  isWatched,
}: {
  options: DaemonOptions;
  files: ReturnType<typeof openFiles>;
  agent: Agent;
  outside: Outside | undefined;
  settings: TranscriptSettings;
  talk: Talk;
  /** Whether a turn of ours runs in the session. */
  isActive: (sessionId: string) => boolean;
  isWatched: (sessionId: string) => boolean;
}): { transcripts: Transcripts; joined: Joined } {
  const idOf = (sessionId: string) =>
    agent.nameOf ? agent.nameOf(sessionId) : agent.messageName && agent.messageName.bind(agent);

  const transcripts = createTranscripts({
    store,
    contents,
    clock,
    settings,
    joinMs: timings?.joinMs ?? daemonTimings.joinMs,
    idOf,
    frames: () => (tellsTranscript() ? (frame) => void send(frame, true) : undefined),
    said: (event) => void (tellsTranscript() && send(event)),
    closed(sessionId, taskId, uuid, state) {
      const about = { type: 'event', task_id: taskId, session_id: sessionId } as const;
      const status = isActive(sessionId) ? 'active' : 'idle';
      if (tellsPrompts()) send({ ...about, event_type: 'PROMPT_CLOSED', uuid, state, status });
    },
    keepsQuestions: agent.holdsQuestions !== true,
    isWatched,
  });
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
    isBusy: isActive,
    onWritten: transcripts.written,
  });
  return { transcripts, joined };
}

/** The capabilities of the relay at the other end of the connection, and the frames to it. */
interface Talk {
  /** A connection to a relay with these capabilities. */
  declare: (capabilities: ReadonlySet<string>) => void;
  isDeclared: (capability: string) => boolean;
  tellsTranscript: () => boolean;
  tellsPrompts: () => boolean;
  /** `hot`: the frame may be left out when the connection is slow. Returns whether it was sent. */
  send: (frame: FromDaemonFrame, hot?: boolean) => boolean;
}

function createTalk({ detail }: TranscriptSettings, write: (frame: FromDaemonFrame, hot: boolean) => boolean): Talk {
  let declared: ReadonlySet<string> = new Set();
  const isDeclared = (capability: string) => declared.has(capability);
  const tellsTranscript = () => detail !== 'off' && isDeclared(relayCapabilities.transcript);
  return {
    declare: (now) => (declared = now),
    isDeclared,
    tellsTranscript,
    tellsPrompts: () => tellsTranscript() && isDeclared(relayCapabilities.prompts),
    send: (frame, hot = false) => write(frame, hot),
  };
}

/** The output of the tasks as frames. */
function voiceOf({
  talk,
  watched,
  store,
  onStatus,
  asked,
  final,
}: {
  talk: Talk;
  watched: Watched;
  store: Store;
  onStatus: () => void;
  asked: (event: DaemonEvent<'PROMPT_OPEN'>) => void;
  final: (event: FinalEvent) => void;
}): Voice {
  return {
    status: onStatus,
    event(event) {
      // Already in its transcript.
      if (event.event_type === 'OUTPUT' && talk.tellsTranscript()) return;
      talk.send(event, event.event_type !== 'SESSION_STARTED');
    },
    asked,
    final,
    activity(sessionId, isCompletion) {
      const session = watched.has(sessionId) ? store.session(sessionId) : undefined;
      if (session) talk.send(activityOf(session, isCompletion, talk.tellsTranscript()));
    },
  };
}

/** The headers by which the daemon introduces itself. */
const headersOf = (options: DaemonOptions, declared: readonly Capability[]): Record<string, string> => ({
  Authorization: `Bearer ${options.refreshToken}`,
  'X-Device-ID': options.deviceId,
  'X-Agent-Type': options.agentType,
  'X-Daemon-Version': options.daemonVersion,
  // Only for people, when two machines use the same registration; a header allows no other characters.
  'X-Daemon-Hostname': hostname().replace(/[^\x21-\x7e]/g, ''),
  ...agentsIn(options),
  'X-Daemon-Capabilities': declared.join(', '),
});

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
