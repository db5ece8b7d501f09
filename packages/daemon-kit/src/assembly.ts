/** The parts of a daemon, put together: files, agents, transcripts, tasks, and the frames between them and the relay. */
import { type FromDaemon, type SlashCommand, limits, relayCapabilities } from '@relay/protocol';
import { daemonSocketAddress } from './address.ts';
import type { Agent } from './agent.ts';
import { createAsking } from './asking.ts';
import { type Cancel, type Clock, systemClock } from './clock.ts';
import { type Connection, type ConnectionState, createConnection } from './connection.ts';
import { marking } from './changes.ts';
import { contentReader } from './contents.ts';
import { createDesk } from './desk.ts';
import { type DaemonOptions, type DaemonTimings, daemonTimings } from './daemon-options.ts';
import { type ShownState, isOpen } from './daemon-state.ts';
import { openFiles } from './files.ts';
import { type Inbound, createInbound, createWatched } from './inbound.ts';
import { capabilitiesOf, headersOf } from './introduction.ts';
import { type FinalEvent, type Journal, forRelay } from './journal.ts';
import { createLink } from './link.ts';
import { createLocalSessions } from './local-sessions.ts';
import { type Log, silentLog } from './log.ts';
import { withOlder } from './older.ts';
import type { Stop } from './reconnect.ts';
import { reportOf } from './report.ts';
import { openTranscripts } from './session-transcripts.ts';
import { createControls } from './controls.ts';
import { settingUpdate } from './transcript/splitter.ts';
import { joinAgents } from './several-agents.ts';
import type { Tasks } from './task.ts';
import { createTasks } from './tasks.ts';
import { type TranscriptSettings, transcriptSettings } from './transcript/transcripts.ts';
import { voiceOf } from './voice.ts';

/** The life of the daemon, as its parts change it. */
interface Life {
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

const statusOf = (tasks: Tasks, names: boolean): FromDaemon<'status'> => ({
  type: 'status',
  running_tasks: [...tasks.running(), ...tasks.steering()],
  ...(names ? { open_prompts: tasks.asking().map(({ question }) => question.uuid) } : {}),
});

/** Maximum number of sessions whose commands are kept; the one with the oldest announcement is discarded first. */
const maxAnnounced = 50;

/**
 * Keeps the slash commands that the agent announces, and sends them at once. `send` can lose a frame while the daemon is offline: the returned
 * `send` repeats the known commands.
 */
function rememberCommands(
  agent: Pick<Agent, 'onCommands'>,
  send: (frame: FromDaemon<'report_slash_commands'>) => void,
): { send(): void } {
  const frames = new Map<string, FromDaemon<'report_slash_commands'>>();
  agent.onCommands?.((sessionId: string, commands: readonly SlashCommand[]) => {
    const frame = {
      type: 'report_slash_commands',
      session_id: sessionId,
      commands: commands.slice(0, limits.slashCommands),
    } as const;
    frames.delete(sessionId);
    frames.set(sessionId, frame);
    const [oldest] = frames.keys();
    if (frames.size > maxAnnounced && oldest !== undefined) frames.delete(oldest);
    send(frame);
  });
  return { send: () => frames.forEach(send) };
}

type Files = ReturnType<typeof openFiles>;

/** All agents of the daemon as one. */
function agentsOf(options: DaemonOptions, store: Files['store']) {
  const typeOf = (sessionId: string) => store.session(sessionId)?.agentType;
  const main = { agent: options.agent, outside: options.outside };
  const { agent, outside } = joinAgents(main, options.further ?? [], typeOf);
  return { agent: marking(agent, options.workspace, store), outside };
}

interface ControlParts {
  options: DaemonOptions;
  files: Pick<Files, 'caps' | 'store'>;
  agent: Agent;
  transcripts: Pick<ReturnType<typeof openTranscripts>['transcripts'], 'update'>;
  link: Pick<ReturnType<typeof createLink>, 'send' | 'isDeclared'>;
  clock: Clock;
  log: Log;
}

/** The settings of the agents. Their marks go into the transcripts, and their notices go to the relay. */
const takesLimits = (link: ControlParts['link']) => link.isDeclared(relayCapabilities.limits);
const controlsOf = ({ options, files: { caps, store }, agent, transcripts, link, clock, log }: ControlParts) =>
  createControls({
    agents: new Map([
      ['', options.agent],
      ...(options.further ?? []).map((one) => [one.agentType, one.agent] as const),
    ]),
    agent,
    caps,
    store,
    folder: options.storeDir,
    clock,
    log,
    mark: (sessionId, about) => void transcripts.update(sessionId, { sessionUpdate: settingUpdate, ...about }),
    send: (frame) => void link.send(frame),
    declares: link.isDeclared,
  });

/** Runs an action at once and then at an interval, until it is stopped. */
function repeating(action: () => unknown, clock: Clock, intervalMs: number) {
  let cancel: Cancel = () => undefined;
  const begin = () => {
    cancel();
    action();
    cancel = clock.after(intervalMs, begin);
  };
  return { begin, stop: () => cancel() };
}

/** Reads the folder. Throws when it cannot be used. */
export function assemble(options: DaemonOptions, { shown, onOpened, onRefused }: Life): Assembled {
  const { clock = systemClock, random = Math.random, log = silentLog } = options;
  const timings: DaemonTimings = { ...daemonTimings, ...options.timings };
  const files = openFiles(options);
  const { store, contents, journal, spending, caps } = files;
  const { agent, outside } = agentsOf(options, store);
  const watched = createWatched();
  const settings: TranscriptSettings = { ...transcriptSettings, ...options.transcript };
  const link = createLink(settings, (frame, hot) => connection.send(JSON.stringify(frame), hot));
  const { send, sendsPrompts, sendsTranscript } = link;
  const { transcripts, joined } = openTranscripts({
    options,
    files,
    agent,
    outside,
    settings,
    link,
    isActive: (sessionId) => tasks.isActive(sessionId),
    isWatched: (sessionId) => watched.has(sessionId),
    onClosed: (uuid) => tasks.questionClosed(uuid),
  });

  const controls = controlsOf({ options, files, agent, transcripts, link, clock, log });

  const sendStatus = () => send(statusOf(tasks, sendsPrompts()));
  const isBusy = (sessionId: string) => tasks.isBusy(sessionId);
  const report = () => send(reportOf(local.list(), isBusy, undefined, sendsTranscript(), desk.reported()));
  const onNew = () => isOpen(shown) && report();
  const reports = repeating(() => (files.incoming.sweep(), report()), clock, timings.reportIntervalMs);
  const local = createLocalSessions({
    agent,
    outside,
    joined,
    store,
    watched,
    isActive: (sessionId) => tasks.isActive(sessionId),
    sendsTranscript,
    send,
    onNew,
    clock,
    intervalMs: timings.watchIntervalMs,
    log,
  });
  const desk = createDesk({
    ...{ agent, store, outside, link, clock, timings, sync: local.sync, onNew, tasks: () => tasks },
  });
  const asking = createAsking({
    open: () => tasks.asking(),
    send: (event, received) => {
      if (sendsPrompts() && send(event)) connection.confirm(received);
    },
  });
  const settled = (ends: readonly FinalEvent[]) => {
    asking.settled(ends);
    for (const taskId of journal.delivered(ends)) tasks.confirmed(taskId);
  };
  const tasks = createTasks({
    ...files,
    agent,
    controls,
    offers: (agentType) => options.further?.some((one) => one.agentType === agentType) === true,
    transcripts,
    ...{ sync: local.sync, reportNew: onNew, bring: local.bring },
    namesQuestions: sendsPrompts,
    log,
    clock,
    timings,
    maxAgents: options.maxAgents,
    voice: voiceOf({
      link,
      watched,
      store,
      clock,
      onStatus() {
        sendStatus();
        shown.running(tasks.running());
      },
      promptOpened: asking.repeat,
      steered: (event, received) => void (send(event) && connection.confirm(received)),
      final(event) {
        if (send(forRelay(event, sendsTranscript(), sendsPrompts(), takesLimits(link))))
          connection.confirm(() => settled([event]));
      },
    }),
  });
  const commands = rememberCommands(agent, (frame) => void send(frame));
  const inbound = createInbound({
    tasks,
    agent,
    controls,
    store: { ...store, ...withOlder(store, (sessionId, place) => joined.before(sessionId, place)) },
    sync: local.sync,
    bring: local.bring,
    watched: { ...watched, add: local.watch },
    desk,
    use: { spending, caps },
    reader: () => (sendsTranscript() ? 'spoken' : 'messages'),
    flush: transcripts.flush,
    content: settings.detail === 'off' ? undefined : contentReader(contents, (id, uuid) => joined.keep(id, uuid)),
    ...{ browse: options.browse, workspace: options.workspace, incoming: files.exchange && files.incoming },
    clock,
    send: (frame) => void send(frame),
    log,
  });

  const onOpen = (now: ReadonlySet<string>) => {
    link.declare(now);
    watched.clear();
    tasks.steeredAgain();
    // Before `status`: the relay must not settle a task as lost that completed while the daemon was offline.
    const owed = journal.owed();
    for (const event of owed) send(forRelay(event, sendsTranscript(), sendsPrompts(), takesLimits(link)));
    if (owed.length > 0) {
      log.info('results delivered late', { count: owed.length });
      connection.confirm(() => settled(owed));
    }
    sendStatus();
    asking.again();
    tasks.reportWaiting();
    reports.begin();
    transcripts.announce();
    commands.send();
    local.look();
    desk.begin();
    onOpened();
  };

  const onState = (now: ConnectionState) => {
    if (now.phase === 'waiting' || now.phase === 'stopped') {
      reports.stop();
      local.stop();
      desk.stop();
    }
    shown.connection(now);
    if (now.phase === 'stopped' && now.stop.reason !== 'stopped') onRefused(now.stop);
  };

  const connection: Connection = (options.connect ?? createConnection)({
    url: daemonSocketAddress(options.server),
    headers: headersOf(options, capabilitiesOf(agent, settings, options.browse, options.workspace, options.exchange)),
    clock,
    random,
    timings,
    onOpen,
    onText: inbound.receive,
    onState,
  });
  return { agent, tasks, connection, inbound, journal };
}
