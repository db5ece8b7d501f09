/** Frames that never came: the sessions of a client are as the relay has them afterwards. The relay is scripted. */
import { client } from '@agentclientprotocol/sdk';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type AttentionItem, RelayError } from '@relay/client';
import type { MessagePage, Session } from '@relay/protocol';
import { readFileSync } from 'node:fs';
import { type Relay, acpIdOf, serveAcp } from '../src/index.ts';

const example = new URL('../../../examples/attention.session_update.json', import.meta.url);
const { session } = JSON.parse(readFileSync(example, 'utf8')) as { session: Session };
const { deviceId, agentType } = session;
const device = { deviceId, agentType, title: 'laptop', version: '', images: false, keepsItems: true };
const sessionId = acpIdOf(session.id);
const gone = new RelayError({
  code: 'SESSION_NOT_FOUND',
  message: 'There is no such session.',
  status: 404,
  retryAfter: undefined,
  details: {},
  headers: new Headers(),
});

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A client that has loaded the session, and the answers of its relay, which a test changes. */
async function loaded() {
  const answers: Record<string, unknown> = {
    readSession: session,
    readMessages: { messages: [], hasMore: false, v: 1, oldestUuid: null, newestUuid: null } satisfies MessagePage,
    sendMessage: { taskId: 'task', message: { uuid: 'own', role: 'USER', content: 'go', timestamp: '' } },
    readTask: { id: 'task', state: 'running' },
  };
  const frames: AttentionItem[] = [];
  let wake = () => {};
  const relay = {
    call: (name: string) => {
      const answer = answers[name] ?? gone;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    async *attention({ signal }: { signal: AbortSignal }) {
      signal.addEventListener('abort', () => wake());
      while (!signal.aborted) {
        yield* frames.splice(0);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  } as unknown as Relay;
  const [up, down] = [new TransformStream(), new TransformStream()];
  const served = serveAcp({ readable: up.readable, writable: down.writable }, { client: relay, device });
  const connection = client({ name: 'test' })
    .onNotification('session/update', () => undefined)
    .connect({ readable: down.readable, writable: up.writable });
  closing.push(() => connection.close());
  void served.catch(() => undefined);
  const { agent } = connection;
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  await agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
  return {
    agent,
    answers,
    hear: (frame: AttentionItem) => {
      frames.push(frame);
      wake();
    },
  };
}

describe('after a gap', () => {
  it('the prompt of a session that was deleted meanwhile ends with an error', async () => {
    const { agent, answers, hear } = await loaded();
    const ended = agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
    ended.catch(() => undefined);
    // Handled in the order in which it comes, so behind the prompt.
    await agent.request('session/resume', { sessionId, cwd: '/' });
    answers['readSession'] = gone;
    hear({ type: 'resync' });
    await expect(ended).rejects.toMatchObject({ data: { code: 'SESSION_NOT_FOUND' } });
  });
});
