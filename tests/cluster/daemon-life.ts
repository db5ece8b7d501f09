/**
 * A daemon that works under any circumstances: it runs its tasks, keeps them over reconnects like field daemons, and
 * sends numbered lines. The journal has every command that reaches it.
 */
import { randomUUID } from 'node:crypto';
import type { Registration } from '@relay/testing';
import { WebSocket } from 'ws';
import type { Chance } from './chance.ts';
import { type Doors, codeOf } from './doors.ts';
import { type Journal, lineText } from './journal.ts';
import { type LivingSocket, startLivingSocket } from './living-socket.ts';

export interface DaemonLife {
  readonly registration: Registration;
  /** Its current connection; undefined while disconnected. */
  readonly connection: number | undefined;
  /** Its running tasks. */
  readonly running: ReadonlySet<string>;
  /** Sends a line of its local session at once; returns undefined while disconnected. */
  speak(): { connection: number; number: number } | undefined;
  drop(): void;
  /** Stops the periodic lines; tasks continue. */
  quieten(): void;
  stop(): Promise<void>;
}

export interface DaemonLifeOptions {
  registration: Registration;
  doors: Doors;
  journal: Journal;
  chance: Chance;
  /** The interval of local lines. */
  lineEveryMs: number;
  /** The duration of the longest task. */
  taskMs: number;
  silenceMs: number;
  /** The pause before it reconnects, at least and at most; 50 to 400 by default. */
  pauseMs?: readonly [number, number];
}

interface Running {
  readonly native: string;
  /** The task has completed, but the daemon could not send that while disconnected. */
  over: boolean;
  timer?: NodeJS.Timeout;
}

type Command = Record<string, string> & { type: string };

export function startDaemonLife(options: DaemonLifeOptions): DaemonLife {
  const { registration, doors, journal, chance } = options;
  const { user, deviceId } = registration;
  const running = new Map<string, Running>();
  let natives = 0;
  let number = 0;
  let open: { socket: WebSocket; connection: number } | undefined;

  const write = (frame: object) => open?.socket.send(JSON.stringify(frame));
  const line = (words: string): string | undefined => {
    if (open?.socket.readyState !== WebSocket.OPEN) return undefined;
    const said = { user, connection: open.connection, number: (number += 1) };
    journal.note({ what: 'said', line: said });
    return lineText(said, words);
  };
  const event = (taskId: string, type: string, fields: object) =>
    write({ type: 'event', task_id: taskId, event_type: type, ...fields });

  const finish = (task: string) => {
    const entry = running.get(task);
    if (!entry) return;
    entry.over = true;
    const result = line('is done');
    if (result === undefined || !open) return;
    running.delete(task);
    event(task, 'TASK_COMPLETE', { session_id: entry.native, result });
    journal.note({ what: 'completed', user, connection: open.connection, task });
  };

  const begin = (task: string, native: string, started: boolean) => {
    journal.note({ what: 'written', user, device: deviceId, connection: open!.connection, task });
    if (running.has(task)) return;
    const entry: Running = { native, over: false };
    running.set(task, entry);
    if (started) event(task, 'SESSION_STARTED', { session_id: native });
    const content = line('works');
    if (content !== undefined) event(task, 'AGENT_RESPONSE', { session_id: native, uuid: randomUUID(), content });
    journal.note({ what: 'began', user, connection: open!.connection, task });
    entry.timer = setTimeout(() => finish(task), chance.between(0, options.taskMs));
  };

  const obey = (command: Command) => {
    switch (command.type) {
      case 'ping':
        return write({ type: 'pong' });
      case 'task_start':
        return begin(command.task_id!, `${user}-n${(natives += 1)}`, true);
      case 'task_resume':
        return begin(command.task_id!, command.session_id!, false);
      case 'task_cancel':
        clearTimeout(running.get(command.task_id!)?.timer);
        if (running.delete(command.task_id!))
          journal.note({ what: 'stopped', user, connection: open!.connection, task: command.task_id! });
        return;
      case 'get_messages': {
        const request = Number(command.before_uuid?.split('-')[1] ?? 0);
        journal.note({ what: 'questioned', user, connection: open!.connection, request });
        const message = {
          uuid: randomUUID(),
          role: 'AGENT',
          content: `history of ${user}`,
          timestamp: new Date().toISOString(),
        };
        return write({
          type: 'messages',
          request_id: command.request_id,
          session_id: command.session_id,
          messages: [message],
          has_more: false,
        });
      }
    }
  };

  const living: LivingSocket = startLivingSocket({
    address: () => ({
      url: `${doors.gateway().replace(/^http/, 'ws')}/ws/daemon`,
      ca: doors.ca,
      headers: {
        Authorization: `Bearer ${registration.refreshToken}`,
        'X-Device-ID': deviceId,
        'X-Agent-Type': registration.agentType,
        'X-Daemon-Version': '1.0.0',
      },
    }),
    onOpen: (socket) => {
      open = { socket, connection: journal.number('connection') };
      number = 0;
      journal.note({ what: 'connected', user, device: deviceId, connection: open.connection, gateway: socket.url });
      write({ type: 'status', running_tasks: [...running.keys()] });
      write({ type: 'report_sessions', sessions: [] });
      for (const [task, { over }] of running) if (over) finish(task);
    },
    onText: (text) => void obey(JSON.parse(text) as Command),
    onClose: (code) => {
      journal.note({ what: 'disconnected', user, connection: open!.connection, code });
      open = undefined;
    },
    onRefused: (status, body) => journal.note({ what: 'refused', who: 'daemon', user, status, code: codeOf(body) }),
    silenceMs: options.silenceMs,
    pauseMs: () => chance.between(...(options.pauseMs ?? [50, 400])),
  });

  const speak = () => {
    const content = line('started locally');
    if (content === undefined || !open) return undefined;
    const desk = { session_id: `${user}-desk`, uuid: randomUUID(), content };
    event('', 'AGENT_RESPONSE', desk);
    return { connection: open.connection, number };
  };
  const lines = setInterval(speak, options.lineEveryMs);
  return {
    registration,
    get connection() {
      return open?.connection;
    },
    get running() {
      return new Set(running.keys());
    },
    speak,
    drop: () => living.drop(),
    quieten: () => clearInterval(lines),
    stop: async () => {
      clearInterval(lines);
      for (const { timer } of running.values()) clearTimeout(timer);
      await living.stop();
    },
  };
}
