/**
 * A daemon like those in the field: it stores the history of its sessions and answers from it, drops frames while it is
 * disconnected, and has the given habits. Its frames about a task come from the test, or from the result of `work`.
 */
import { randomUUID } from 'node:crypto';
import { type Registration, type TestDaemon, UpgradeRefused, connectDaemon, registerDevice } from './daemon.ts';
import type { Habits } from './field-habits.ts';
import { type PageWish, type StoredMessage, createFieldSessions } from './field-sessions.ts';
import { type FieldTask, createFieldTasks } from './field-tasks.ts';
import { type Frame, Inbox } from './inbox.ts';
import type { RelayAddress } from './relay.ts';

/** The fields of the relay's frames; each frame has some of them. */
type Command = PageWish &
  Record<'task_id' | 'instruction' | 'message' | 'request_id' | 'status', string> & { project_path?: string };

interface FieldDaemonOptions {
  habits?: Habits;
  user?: string;
  agentType?: string;
  registration?: Registration;
  gateway?: number;
  headers?: Record<string, string>;
  /** The texts of a turn, sent as soon as they exist. Absent: the test calls `finish`, `fail` or `ask`. */
  work?: (task: FieldTask) => readonly string[] | Promise<readonly string[]>;
  /** Reconnects after this time, which doubles up to thirty times its length, to the gateway that `at` names. Absent: it stays away. */
  again?: { afterMs: number; at?: () => number };
}

export interface FieldDaemon {
  readonly registration: Registration;
  readonly deviceId: string;
  /** Every frame of the relay, over all connections. */
  readonly inbox: Inbox;
  next: Inbox['next'];
  /** The current connection. */
  readonly connection: TestDaemon | undefined;
  connect(gateway?: number): Promise<void>;
  /** Cuts the connection without a goodbye. */
  drop(): Promise<void>;
  /** The next task that reached it, over any connection. */
  nextTask(): Promise<FieldTask>;
  /** The agent sends a text during a task. */
  say(task: FieldTask, ...texts: string[]): void;
  /** The agent sends these texts and completes its turn. */
  finish(task: FieldTask, ...texts: string[]): void;
  fail(task: FieldTask, error: string): void;
  ask(task: FieldTask, question: string, ...options: string[]): void;
  /** A line typed locally, in a session of its own or an existing one. */
  atDesk(native: string, role: StoredMessage['role'], content: string): void;
  /** Sends `report_sessions`. */
  report(): void;
  /** Sends `status`, according to its habits. */
  status(): void;
  /** Sends a frame unchanged; drops it while disconnected. */
  send(frame: Frame): void;
  history(native: string): readonly StoredMessage[];
  stop(): Promise<void>;
}

/** Registers and connects. Rejects as `connectDaemon` does, unless it reconnects by itself (`again`). */
export async function startFieldDaemon(relay: RelayAddress, options: FieldDaemonOptions = {}): Promise<FieldDaemon> {
  const { habits = {}, user, agentType, again } = options;
  const registration =
    options.registration ??
    (await registerDevice(relay, { ...(user && { user }), agentType: agentType ?? 'field_agent' }));
  const inbox = new Inbox('the field daemon');
  const watched = new Set<string>();
  let connection: TestDaemon | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delayMs = again?.afterMs ?? 0;
  let stopped = false;

  const send = (frame: Frame) => {
    if (connection?.socket.readyState === 1) connection.send(frame);
  };
  const sessions = createFieldSessions(habits);
  const activity = (native: string, isCompletion: boolean) => {
    if (watched.has(native)) send({ type: 'session_activity', ...sessions.facts(native), is_completion: isCompletion });
  };
  const isConnected = () => connection !== undefined;
  const tasks = createFieldTasks({ habits, sessions, send, activity, isConnected, work: options.work });
  const report = () => send({ type: 'report_sessions', sessions: sessions.report(tasks.isBusy) });

  const obey = (frame: Frame) => {
    inbox.push(frame);
    const command = frame as unknown as Command;
    switch (frame.type) {
      case 'task_start': {
        const task = { id: command.task_id, native: randomUUID(), instruction: command.instruction };
        return tasks.arrived(task, true, command.project_path);
      }
      case 'task_resume':
        return tasks.arrived({ id: command.task_id, native: command.session_id, instruction: command.message }, false);
      case 'task_cancel':
        return tasks.cancelled(command.task_id);
      case 'watch_session':
        watched.add(command.session_id);
        return;
      case 'unwatch_session':
        watched.delete(command.session_id);
        return;
      case 'get_messages':
        if (!habits.noHistory) send({ type: 'messages', request_id: command.request_id, ...sessions.page(command) });
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
    // Frames might have arrived before this listener.
    for (const frame of opened.inbox.all) obey(frame);
    opened.socket.on('message', (data: Buffer) => obey(JSON.parse(data.toString('utf8')) as Frame));
    void opened.closed.then(() => {
      watched.clear();
      if (connection === opened) connection = undefined;
      comeBack();
    });
    tasks.firstStatus();
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
    nextTask: tasks.next,
    say: tasks.say,
    finish: tasks.finish,
    fail: tasks.fail,
    ask: tasks.ask,
    atDesk: (native, role, content) => {
      sessions.open(native, false);
      const { uuid, timestamp } = sessions.store(native, role, content);
      if (!watched.has(native)) return;
      const eventType = role === 'USER' ? 'USER_MESSAGE' : 'AGENT_RESPONSE';
      send({ type: 'event', task_id: '', event_type: eventType, session_id: native, uuid, content, timestamp });
      activity(native, role === 'AGENT');
    },
    report,
    status: tasks.status,
    send,
    history: sessions.messagesOf,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await connection?.close();
    },
  };
}
