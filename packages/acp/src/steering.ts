/** `_session/steering`: sends a message of the client into the running turn, and responds like agents do (rules, 23.8). */
import { RelayError } from '@relay/client';
import type { Message } from '@relay/protocol';
import { acpError, invalid } from './errors.ts';
import { attach } from './attach.ts';
import type { Host } from './host.ts';
import { pause } from './persist.ts';
import type { Instruction } from './prompt.ts';

interface Request {
  sessionId: string;
  prompt: readonly unknown[];
  /** The client sends the message itself, as a prompt, if no turn runs. */
  isHostOwned: boolean;
}

export interface SteerResult {
  outcome: 'injected' | 'promptRequired' | 'startedNewTurn';
  reason?: 'noRunningTurn';
}

const lookAgainMs = 250;
const noTurn: SteerResult = { outcome: 'promptRequired', reason: 'noRunningTurn' };

/** Checks the parameters, except the content. @throws RequestError */
export function steeringOf(params: unknown): Request {
  const { sessionId, prompt, _meta: meta } = (params ?? {}) as Record<string, unknown>;
  if (typeof sessionId !== 'string' || !Array.isArray(prompt)) throw invalid('A session and a prompt are needed.');
  const { steering } = (meta ?? {}) as { steering?: { idleBehavior?: unknown } };
  return { sessionId, prompt, isHostOwned: steering?.idleBehavior === 'promptRequired' };
}

/** Resolves with the outcome. @throws RequestError if the agent does not accept messages */
export async function steer(
  host: Host,
  id: string,
  instruction: Instruction,
  isHostOwned: boolean,
  accepted: (message: Message) => void,
): Promise<SteerResult> {
  const { client, persist, signal } = host;
  const session = await persist(() => client.call('readSession', { params: { id }, query: { limit: 1 } }));
  if (isHostOwned && session.runningSince === undefined) return noTurn;
  const attached = await attach(host, instruction);
  const body = { content: instruction.content, answers: null, deliver: 'now' as const, ...attached };
  const idempotencyKey = `acp-steering-${crypto.randomUUID()}`;
  // Not retried after a refusal: a minute later another turn runs.
  const sent = await client.call('sendMessage', { params: { id }, body, idempotencyKey });
  const { taskId } = sent;
  const isTakenBack = async () => {
    try {
      await persist(() => client.call('removeQueued', { params: { id, taskId } }));
      return true;
    } catch (error) {
      if (error instanceof RelayError && [404, 409].includes(error.status)) return false;
      throw error;
    }
  };
  for (;;) {
    const { kind, state, error } = await persist(() => client.call('readTask', { params: { id: taskId } }));
    if (kind === 'steer' && (state === 'running' || state === 'completed')) {
      accepted(sent.message);
      return { outcome: 'injected' };
    }
    if (kind !== 'steer') {
      // The message became an ordinary queued message: the client gets it back, unless the relay sent it.
      const now = await client.call('readSession', { params: { id }, query: { limit: 1 } });
      if (!isHostOwned || !(await isTakenBack())) {
        accepted(sent.message);
        return { outcome: 'startedNewTurn' };
      }
      if (now.runningSince === undefined) return noTurn;
      throw acpError('The agent cannot take this into its turn now.', { code: 'NOT_STEERABLE' });
    }
    if (error) throw acpError(error.error, { code: error.code });
    await pause(lookAgainMs, signal);
    signal.throwIfAborted();
  }
}
