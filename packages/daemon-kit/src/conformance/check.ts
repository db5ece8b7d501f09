/** A rule for a daemon as one check, and the steps that several checks share. */
import { randomUUID } from 'node:crypto';
import type { FromDaemon } from '@relay/protocol';
import type { DoubleConnection, RelayDouble } from './relay-double.ts';

export interface Subject {
  /** Starts the daemon at this relay. `stop` resolves when it has exited. */
  start(at: DeviceIdentity): { stop: () => Promise<void> };
}

export interface DeviceIdentity {
  server: string;
  deviceId: string;
  refreshToken: string;
  agentType: string;
}

interface CheckWorld {
  relay: RelayDouble;
  identity: DeviceIdentity;
  /** The first connection, after its first `status` and `report_sessions`. */
  connection: DoubleConnection;
}

export interface DaemonCheck {
  /** A sentence about the daemon. */
  name: string;
  /** Section of the interface specification, or a rule of docs/rules.md. */
  rule: string;
  /** The capabilities that the relay declares. A daemon that does not declare them passes: the check does not concern it. */
  declares?: readonly string[];
  run(world: CheckWorld): Promise<void>;
}

class Broken extends Error {}
/** @throws Broken */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Broken(what);
}
export const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
export const id = (name: string) => `${name}-${randomUUID()}`;

export const begin = (connection: DoubleConnection, instruction: string, taskId = id('task')) => {
  connection.send({ type: 'task_start', task_id: taskId, instruction });
  return taskId;
};
export const resume = (connection: DoubleConnection, session: string, message: string) => {
  const taskId = id('task');
  connection.send({ type: 'task_resume', task_id: taskId, session_id: session, message });
  return taskId;
};
/** A finished first turn. */
export async function conversation(connection: DoubleConnection): Promise<string> {
  const taskId = begin(connection, 'hello');
  const { session_id: session } = await connection.event('SESSION_STARTED', taskId);
  await connection.event('TASK_COMPLETE', taskId);
  await connection.status();
  return session ?? '';
}
/** Sends a request, and returns the answer to it. */
export async function ask<T extends 'messages' | 'content_response' | 'folders' | 'settings_response'>(
  connection: DoubleConnection,
  request: { type: string; [field: string]: unknown },
  answered: T,
): Promise<FromDaemon<T>> {
  const requestId = id('request');
  connection.send({ ...request, request_id: requestId });
  const answer = await connection.frame(answered);
  must('request_id' in answer && answer.request_id === requestId, 'the answer echoes request_id');
  return answer;
}
export const page = (
  connection: DoubleConnection,
  session: string,
  query: {
    limit: number;
    before_uuid?: string;
    after_uuid?: string;
    parts?: boolean;
    changed?: number | null | undefined;
  },
) => ask(connection, { type: 'get_messages', session_id: session, ...query }, 'messages');
export const declares = ({ headers }: DoubleConnection, name: string): boolean =>
  [headers['x-daemon-capabilities'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((declared) => declared.trim() === name);
export const uuids = (answer: FromDaemon<'messages'>) => (answer.messages ?? []).map(({ uuid }) => uuid);
