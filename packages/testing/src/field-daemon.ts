/**
 * A daemon like those in the field: it keeps the history of its sessions and answers from it, drops what it would say while it is
 * disconnected, and has the habits it is given. Its frames about a task come from the test, or from the answer of `work`.
 */
import { randomUUID } from 'node:crypto';
import { type Registration, type TestDaemon, UpgradeRefused, connectDaemon, registerDevice } from './daemon.ts';
import { type Frame, Inbox } from './inbox.ts';
import type { RelayAddress } from './relay.ts';

/** Each was seen in the field; absent means the behaviour of the specification. */
export interface Habits {
  /** `running_tasks` only grows. */
  growingStatus?: boolean;
  /** One `status` per connection, which still lists what ended while it was away; none on changes. */
  statusOnce?: boolean;
  /** `running_tasks` is always empty. */
  emptyStatus?: boolean;
  /** `status` after a connect only, and true. */
  quietStatus?: boolean;
  /** Every turn ends with `result: ""`. */
  emptyResult?: boolean;
  /** A result ends with a newline that the history lacks. */
  newlineResult?: boolean;
  /** Each text of a turn is an AGENT_RESPONSE, and all of them joined are the result. */
  spokenTurns?: boolean;
  /** WAIT_FOR_USER has the question in `context`, and neither `result` nor options. */
  questionInContext?: boolean;
  /** Reports say `is_active: false` of everything. */
  neverActive?: boolean;
  /** Every report and activity says `message_count: 1`. */
  constantCount?: boolean;
  /** `get_messages` answers the newest page whatever cursor it has, with `has_more: true`. */
  ignoresCursors?: boolean;
  /** 426 is an error like any other: it connects again. */
  ignores426?: boolean;
  /** Slash commands by project: `{sets: [{project, commands}]}`. */
  commandSets?: boolean;
  /** `report_sessions` leaves out the sessions that the relay started. */
  hidesItsSessions?: boolean;
  /** Its events carry no session id, and there is no SESSION_STARTED. */
  neverNames?: boolean;
  /** It has nothing to answer `get_messages` from, and is silent. */
  noHistory?: boolean;
}

export interface StoredMessage {
  uuid: string;
  role: 'USER' | 'AGENT';
  content: string;
  timestamp: string;
}

/** The fields of what the relay sends, each in the frames that have it. */
type Command = Record<
  'type' | 'task_id' | 'session_id' | 'instruction' | 'message' | 'request_id' | 'status',
  string
> & { project_path?: string; before_uuid?: string; after_uuid?: string; limit: number };

interface FieldSession {
  readonly native: string;
  readonly project: string;
  /** Started by the relay, not locally. */
  readonly managed: boolean;
  readonly messages: StoredMessage[];
}

export interface FieldTask {
  readonly id: string;
  readonly native: string;
  readonly instruction: string;
}

export interface FieldDaemonOptions {
  habits?: Habits;
  user?: string;
  agentType?: string;
  registration?: Registration;
  gateway?: number;
  headers?: Record<string, string>;
  /** The texts of a turn, said as soon as they are there. Absent: the test calls `finish`, `fail` or `ask`. */
  work?: (task: FieldTask) => readonly string[] | Promise<readonly string[]>;
  /** Connects again by itself after this time, doubled up to thirty times of it, to the gateway that `at` names. Absent: it stays away. */
  again?: { afterMs: number; at?: () => number };
}

export interface FieldDaemon {
  readonly registration: Registration;
  readonly deviceId: string;
  /** Every frame of the relay, over all connections. */
  readonly inbox: Inbox;
  next: Inbox['next'];
  /** The connection it has now. */
  readonly connection: TestDaemon | undefined;
  connect(gateway?: number): Promise<void>;
  /** Cuts the connection without a goodbye. */
  drop(): Promise<void>;
  /** The next task that reached it, over any connection. */
  nextTask(): Promise<FieldTask>;
  /** The agent says something during a task. */
  say(task: FieldTask, ...texts: string[]): void;
  /** The agent says these and ends its turn. */
  finish(task: FieldTask, ...texts: string[]): void;
  fail(task: FieldTask, error: string): void;
  ask(task: FieldTask, question: string, ...options: string[]): void;
  /** A line typed locally, in a session of its own or an existing one. */
  atDesk(native: string, role: StoredMessage['role'], content: string): void;
  /** `report_sessions` now. */
  report(): void;
  /** `status` now, as its habits have it. */
  status(): void;
  /** A frame as it is, dropped while there is no connection. */
  send(frame: Frame): void;
  history(native: string): readonly StoredMessage[];
  stop(): Promise<void>;
}

/** Registers and connects. Rejects as `connectDaemon` does, unless it comes `again` by itself. */
export async function startFieldDaemon(relay: RelayAddress, options: FieldDaemonOptions = {}): Promise<FieldDaemon> {
  const { habits = {}, user, agentType, again } = options;
  const registration =
    options.registration ??
    (await registerDevice(relay, { ...(user && { user }), agentType: agentType ?? 'field_agent' }));
  const inbox = new Inbox('the field daemon');
  const sessions = new Map<string, FieldSession>();
  /** The list of `status`: task → still running. */
  const listed = new Map<string, boolean>();
  const tasks: { arrived: FieldTask[]; waiting: ((task: FieldTask) => void)[] } = { arrived: [], waiting: [] };
  const watched = new Set<string>();
  let connection: TestDaemon | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delayMs = again?.afterMs ?? 0;
  let stopped = false;

  const send = (frame: Frame) => {
    if (connection?.socket.readyState === 1) connection.send(frame);
  };
  const event = (task: FieldTask, eventType: string, fields: Record<string, unknown>) =>
    send({
      type: 'event',
      task_id: task.id,
      event_type: eventType,
      ...(!habits.neverNames && { session_id: task.native }),
      ...fields,
    });
  const sessionOf = (native: string, managed: boolean, project = '/home/dev/project'): FieldSession => {
    const known = sessions.get(native);
    if (known) return known;
    const fresh = { native, project, managed, messages: [] };
    sessions.set(native, fresh);
    return fresh;
  };
  const store = ({ messages }: FieldSession, role: StoredMessage['role'], content: string): StoredMessage => {
    const stored = { uuid: randomUUID(), role, content, timestamp: new Date().toISOString() };
    messages.push(stored);
    return stored;
  };

  const status = () => send({ type: 'status', running_tasks: habits.emptyStatus ? [] : [...listed.keys()] });
  const changed = (taskId: string, runs: boolean) => {
    if (runs || habits.growingStatus) listed.set(taskId, runs);
    else if (habits.statusOnce && connection === undefined) listed.set(taskId, false);
    else listed.delete(taskId);
    if (!habits.statusOnce && !habits.quietStatus) status();
  };
  const count = ({ messages }: FieldSession) => (habits.constantCount ? 1 : messages.length);
  const facts = (session: FieldSession) => ({
    session_id: session.native,
    last_message: session.messages.at(-1)?.content ?? '',
    last_activity: session.messages.at(-1)?.timestamp ?? new Date().toISOString(),
    message_count: count(session),
  });
  const isBusy = (native: string) => [...running.values()].includes(native);
  const running = new Map<string, string>();
  const report = () =>
    send({
      type: 'report_sessions',
      sessions: [...sessions.values()]
        .filter(({ managed }) => !(managed && habits.hidesItsSessions))
        .map((session) => ({
          ...facts(session),
          project: session.project,
          file_path: `${session.project}/${session.native}.jsonl`,
          is_active: !habits.neverActive && isBusy(session.native),
        })),
    });
  const activity = (session: FieldSession, isCompletion: boolean) => {
    if (watched.has(session.native)) send({ type: 'session_activity', ...facts(session), is_completion: isCompletion });
  };

  const say = (task: FieldTask, ...texts: string[]) => {
    for (const content of texts) {
      const { uuid, timestamp } = store(sessions.get(task.native)!, 'AGENT', content);
      if (habits.spokenTurns) event(task, 'AGENT_RESPONSE', { uuid, content, timestamp });
    }
  };
  const ended = (task: FieldTask, eventType: string, fields: Record<string, unknown>) => {
    running.delete(task.id);
    event(task, eventType, fields);
    activity(sessions.get(task.native)!, eventType === 'TASK_COMPLETE');
    changed(task.id, false);
  };
  const finish = (task: FieldTask, ...texts: string[]) => {
    say(task, ...texts);
    const result = habits.emptyResult ? '' : texts.join('\n\n') + (habits.newlineResult ? '\n' : '');
    ended(task, 'TASK_COMPLETE', { result });
  };

  const arrived = (task: FieldTask, isNew: boolean, project?: string) => {
    store(sessionOf(task.native, true, project), 'USER', task.instruction);
    running.set(task.id, task.native);
    changed(task.id, true);
    if (isNew && !habits.neverNames) event(task, 'SESSION_STARTED', {});
    const waiting = tasks.waiting.shift();
    if (waiting) waiting(task);
    else tasks.arrived.push(task);
    if (!options.work) return;
    void Promise.resolve(options.work(task)).then((texts) => {
      if (running.has(task.id)) finish(task, ...texts);
    });
  };

  const page = (frame: Command) => {
    const all = sessions.get(frame.session_id)?.messages ?? [];
    const at = (uuid: string) => all.findIndex((message) => message.uuid === uuid);
    const [before, after] = habits.ignoresCursors ? [] : [frame.before_uuid, frame.after_uuid];
    const range = all.slice(after ? at(after) + 1 : 0, before ? Math.max(0, at(before)) : undefined);
    const messages = range.slice(-frame.limit);
    return {
      session_id: frame.session_id,
      messages,
      has_more: habits.ignoresCursors === true || range.length > messages.length,
      oldest_uuid: messages.at(0)?.uuid,
      newest_uuid: messages.at(-1)?.uuid,
    };
  };

  const obey = (frame: Frame) => {
    inbox.push(frame);
    const command = frame as unknown as Command;
    switch (frame.type) {
      case 'task_start':
        arrived(
          { id: command.task_id, native: randomUUID(), instruction: command.instruction },
          true,
          command.project_path,
        );
        return;
      case 'task_resume':
        arrived({ id: command.task_id, native: command.session_id, instruction: command.message }, false);
        return;
      case 'task_cancel':
        running.delete(command.task_id);
        changed(command.task_id, false);
        return;
      case 'watch_session':
        watched.add(command.session_id);
        return;
      case 'unwatch_session':
        watched.delete(command.session_id);
        return;
      case 'get_messages':
        if (!habits.noHistory) send({ type: 'messages', request_id: command.request_id, ...page(command) });
        return;
      case 'version_status':
        if (command.status === 'update_required') stopped = true;
    }
  };

  const connect = async (gateway = options.gateway ?? 0) => {
    const opened = await connectDaemon(relay, {
      registration,
      gateway,
      hello: [],
      ...(options.headers && { headers: options.headers }),
    });
    connection = opened;
    delayMs = again?.afterMs ?? 0;
    // Frames may have come before anything listened here.
    for (const frame of opened.inbox.all) obey(frame);
    opened.socket.on('message', (data: Buffer) => obey(JSON.parse(data.toString('utf8')) as Frame));
    void opened.closed.then(() => {
      watched.clear();
      if (connection === opened) connection = undefined;
      comeBack();
    });
    status();
    for (const [id, runs] of listed) if (!runs && !habits.growingStatus) listed.delete(id);
    report();
    if (habits.commandSets)
      send({
        type: 'report_slash_commands',
        sets: [{ project: '/home/dev/project', commands: [{ name: 'review', description: 'Looks at the changes' }] }],
      });
  };
  const comeBack = () => {
    if (!again || stopped) return;
    timer = setTimeout(() => {
      connect(again.at?.()).catch((error: unknown) => {
        const tooOld = error instanceof UpgradeRefused && error.status === 426;
        if (!tooOld || habits.ignores426) comeBack();
      });
    }, delayMs);
    delayMs = Math.min(2 * delayMs, 30 * again.afterMs);
  };

  await connect().catch((error: unknown) => {
    if (!again) throw error;
    comeBack();
  });
  return {
    registration,
    deviceId: registration.deviceId,
    inbox,
    next: inbox.next,
    get connection() {
      return connection;
    },
    connect,
    drop: async () => connection?.drop(),
    nextTask: () =>
      tasks.arrived.length > 0
        ? Promise.resolve(tasks.arrived.shift()!)
        : new Promise((resolve) => tasks.waiting.push(resolve)),
    say,
    finish,
    fail: (task, error) => ended(task, 'ERROR', { error }),
    ask: (task, question, ...options) => {
      const labels = options.map((label) => ({ label }));
      ended(
        task,
        'WAIT_FOR_USER',
        habits.questionInContext
          ? { prompt: 'Permission required for: Bash', context: question }
          : { prompt: question, result: question, options: labels },
      );
    },
    atDesk: (native, role, content) => {
      const session = sessionOf(native, false);
      const { uuid, timestamp } = store(session, role, content);
      if (!watched.has(native)) return;
      const eventType = role === 'USER' ? 'USER_MESSAGE' : 'AGENT_RESPONSE';
      send({ type: 'event', task_id: '', event_type: eventType, session_id: native, uuid, content, timestamp });
      activity(session, role === 'AGENT');
    },
    report,
    status,
    send,
    history: (native) => sessions.get(native)?.messages ?? [],
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await connection?.close();
    },
  };
}
