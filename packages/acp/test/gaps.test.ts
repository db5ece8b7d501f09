/** The sessions of a client equal the state of a scripted relay after lost frames. */
import { client } from '@agentclientprotocol/sdk';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type AttentionItem, RelayError } from '@relay/client';
import type { Item, MessagePage, Session } from '@relay/protocol';
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Relay, acpIdOf, serveAcp } from '../src/index.ts';

const example = new URL('../../../examples/attention.session_update.json', import.meta.url);
const { session } = JSON.parse(readFileSync(example, 'utf8')) as { session: Session };
const { deviceId, agentType } = session;
const device = {
  deviceId,
  agentType,
  title: 'laptop',
  version: '',
  images: false,
  files: false,
  keepsItems: true,
  steers: false,
};
const sessionId = acpIdOf(session.id);
const refused = { message: 'So it is.', retryAfter: undefined, details: {}, headers: new Headers() };
const gone = new RelayError({ ...refused, code: 'SESSION_NOT_FOUND', status: 404 });

const page = (v: number, ...messages: Item[]): MessagePage => ({
  messages,
  hasMore: false,
  v,
  oldestUuid: null,
  newestUuid: null,
});
const missed = page(2, {
  uuid: 'missed',
  seq: 1,
  v: 2,
  role: 'AGENT',
  content: 'It was said meanwhile.',
  timestamp: '2026-03-14T09:10:02.000Z',
  part: { kind: 'text' },
});

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A client that has loaded the session, and the responses of its relay, which a test changes. */
async function loaded(status: Session['status'] = 'active') {
  const answers: Record<string, unknown> = {
    readSession: { ...session, status },
    readMessages: page(1),
    sendMessage: { taskId: 'task', message: { uuid: 'own', role: 'USER', content: 'go', timestamp: '' } },
    readTask: { id: 'task', state: 'running' },
  };
  const frames: AttentionItem[] = [];
  const calls: { name: string; body: unknown }[] = [];
  let wake = () => {};
  const relay = {
    call: (name: string, { body }: { body?: unknown } = {}) => {
      calls.push({ name, body });
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
  let tellText: (content: unknown) => void;
  const firstText = new Promise<unknown>((resolve) => (tellText = resolve));
  const [up, down] = [new TransformStream(), new TransformStream()];
  const served = serveAcp({ readable: up.readable, writable: down.writable }, { client: relay, device });
  const connection = client({ name: 'test' })
    .onNotification('session/update', ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk') tellText(update.content);
    })
    .connect({ readable: down.readable, writable: up.writable });
  closing.push(() => connection.close());
  void served.catch(() => undefined);
  const { agent } = connection;
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  await agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
  return {
    agent,
    answers,
    calls,
    firstText,
    emit: (frame: AttentionItem) => {
      frames.push(frame);
      wake();
    },
  };
}

describe('after a gap', () => {
  it('the prompt of a deleted session fails', async () => {
    const { agent, answers, emit } = await loaded();
    const ended = agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
    ended.catch(() => undefined);
    // The agent handles requests in order: this one completes after the prompt has started.
    await agent.request('session/resume', { sessionId, cwd: '/' });
    answers['readSession'] = gone;
    emit({ type: 'resync' });
    await expect(ended).rejects.toMatchObject({ data: { code: 'SESSION_NOT_FOUND' } });
  });

  it('a session with a turn of another app reloads at once', async () => {
    const { answers, firstText, emit } = await loaded();
    answers['readMessages'] = missed;
    emit({ type: 'resync' });
    expect(await firstText).toMatchObject({ text: 'It was said meanwhile.' });
  });

  it('a session without a turn reloads when an update shows a change', async () => {
    const { answers, firstText, emit } = await loaded('idle');
    answers['readMessages'] = missed;
    emit({ type: 'resync' });
    emit({ type: 'session_update', session: { ...session, status: 'idle', updatedAt: '2026-03-14T09:10:03.000Z' } });
    expect(await firstText).toMatchObject({ text: 'It was said meanwhile.' });
  });
});

it('a session that gets its name while its prompt is being sent delivers messages under that name', async () => {
  const { agent, answers, calls, firstText, emit } = await loaded();
  let answer: (sent: unknown) => void = () => undefined;
  const accepted = answers['sendMessage'];
  answers['sendMessage'] = new Promise((resolve) => (answer = resolve));
  void agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }).catch(() => undefined);
  const turn = () => new Promise((done) => setImmediate(done));
  while (!calls.some(({ name }) => name === 'sendMessage')) await turn();
  const id = `${session.id}-named`;
  emit({ type: 'session_update', previousId: session.id, session: { ...session, id } });
  emit({ type: 'transcript', sessionId: id, v: 2, ops: [{ op: 'put', item: missed.messages[0] as Item }] });
  await turn();
  answer(accepted);
  expect(await firstText).toMatchObject({ text: 'It was said meanwhile.' });
});

it('S4: drops frames of many bytes while it sends a prompt, and reads the session afterwards', async () => {
  const { agent, answers, calls, firstText, emit } = await loaded();
  let answer: (sent: unknown) => void = () => undefined;
  const accepted = answers['sendMessage'];
  answers['sendMessage'] = new Promise((resolve) => (answer = resolve));
  void agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] }).catch(() => undefined);
  const turn = () => new Promise((done) => setImmediate(done));
  while (!calls.some(({ name }) => name === 'sendMessage')) await turn();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const freed = new Set<number>();
  const registry = new FinalizationRegistry((n: number) => freed.add(n));
  for (let n = 0; n < 100; n += 1) {
    const text = Buffer.alloc(256 * 1024, `${n} `).toString();
    const frame: AttentionItem = {
      ...{ type: 'transcript', sessionId: session.id, v: n + 2 },
      ops: [{ op: 'add', uuid: 'grows', text }],
    };
    registry.register(frame, n);
    emit(frame);
    await turn();
  }
  for (let tries = 0; tries < 100 && freed.size < 80; tries += 1) {
    collect();
    await turn();
  }
  expect(freed.size).toBeGreaterThanOrEqual(80);
  answers['readMessages'] = missed;
  answer(accepted);
  expect(await firstText).toMatchObject({ text: 'It was said meanwhile.' });
});

it('a client that stops a prompt with a completed turn cancels this turn only, not that of another app', async () => {
  const { agent, answers, calls, emit } = await loaded();
  const ended = agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
  await agent.request('session/resume', { sessionId, cwd: '/' });
  // The final text fails to load, so the prompt stays open after its turn has completed; a phone has a running turn.
  answers['readMessages'] = new Error('away');
  answers['readTask'] = { id: 'task', state: 'completed' };
  answers['removeQueued'] = new RelayError({ ...refused, code: 'TASK_ALREADY_ENDED', status: 409 });
  const lastTask = { id: 'other', state: 'running' as const };
  emit({ type: 'session_update', session: { ...session, updatedAt: '2026-03-14T09:10:03.000Z', lastTask } });
  await agent.notify('session/cancel', { sessionId });
  expect(await ended).toEqual({ stopReason: 'cancelled' });
  expect(calls.filter(({ name }) => name === 'cancelSession').map(({ body }) => body)).toEqual([
    { which: 'running', taskId: 'task' },
  ]);
});

it('44: a prompt carries the choice for a session that a terminal has open, and a wrong choice sends nothing', async () => {
  const { agent, calls } = await loaded('idle');
  const prompt = (choice: string) =>
    agent.request('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text: 'go' }],
      _meta: { 'relay/desk': choice },
    });
  await expect(prompt('later')).rejects.toMatchObject({ code: -32602 });
  prompt('wait').catch(() => undefined);
  const sent = () => calls.filter(({ name }) => name === 'sendMessage').map(({ body }) => body);
  while (sent().length === 0) await new Promise((done) => setImmediate(done));
  expect(sent()).toEqual([expect.objectContaining({ content: 'go', answers: null, desk: 'wait' })]);
});
