/** The daemon with the demonstration agent at a real relay, used by an app over REST and `/ws/attention`. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Item } from '@relay/protocol';
import { type TestRelay, connectApp, registerDevice, startRelay } from '@relay/testing';
import { type DaemonOptions, createDaemon } from '../src/index.ts';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ config: { boundApprovals: 'off' } });
});
afterAll(() => relay.stop());
afterEach(() => home.clear());

type Session = { id: string; status: string; prompt?: unknown; lastTask?: { id?: string; state: string } };

async function begin(
  options: Parameters<typeof demoAgent>[1] = {},
  transcript: DaemonOptions['transcript'] = undefined,
) {
  const { deviceId, refreshToken, agentType } = await registerDevice(relay);
  const { agent, agentHome } = demoAgent(home, options);
  const storeDir = home.folder();
  const start = (with_ = agent) => {
    const daemon = createDaemon({
      server: relay.gateways[0]?.url ?? '',
      deviceId,
      refreshToken,
      agentType,
      agent: with_,
      storeDir,
      daemonVersion: '1.0.0',
      transcript,
      timings: { initialDelayMs: 20, maxDelayMs: 100 },
    });
    home.later(() => daemon.stop());
    daemon.start();
    return daemon;
  };
  const daemon = start();
  await daemon.connected();
  const app = await connectApp(relay, { output: true });
  home.later(() => app.close());
  const update = (match: (session: Session) => boolean) =>
    app.next('session_update', ({ session }) => match(session as Session)).then(({ session }) => session as Session);
  const said = (content: string) =>
    app.next('new_message', ({ message }) => (message as { content: string }).content === content);
  const create = async (message: string) => {
    const { status, body } = await relay.call('POST', '/api/sessions', { body: { deviceId, message } });
    expect(status).toBe(201);
    return body as { taskId: string };
  };
  const tell = (id: string, content: string) =>
    relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/messages`, { body: { content } });
  return { daemon, app, update, said, create, tell, start, agentHome, deviceId };
}

describe('an app at a real relay', () => {
  it('gets the session, the progress, the output and the answer of an agent', async () => {
    const { app, update, said, create } = await begin();
    await create('tool');
    await update(({ id }) => !id.includes('PENDING'));
    await app.next('task_output', ({ output }) => (output as string).includes('total 0'));
    await said('listed');
    await update(({ status, lastTask }) => status === 'idle' && lastTask?.state === 'completed');
  });

  it('with output alone gets the same text from a daemon with and without a transcript', async () => {
    const shown = async (transcript: DaemonOptions['transcript']) => {
      const { app, said, create } = await begin({}, transcript);
      await create('all');
      await said('Second.');
      return app.inbox.all.flatMap(({ type, output }) => (type === 'task_output' ? [output as string] : [])).join('');
    };
    const plain = await shown({ detail: 'off' });
    expect(plain).toContain('line 2999\n\ntotal 0changed src/a.ts\n[Careful: it is late]\nFirst.\nSecond.');
    expect(await shown(undefined)).toBe(plain);
  });

  it('fetches an image of the agent, and the whole of a shortened output', async () => {
    const { update, create } = await begin();
    const items = async (message: string) => {
      const { taskId } = await create(message);
      const { id } = await update(({ status, lastTask }) => status === 'idle' && lastTask?.id === taskId);
      const { body } = await relay.call('readMessages', { params: { id }, query: { parts: '1' } });
      return { id, items: body.messages as unknown as Item[] };
    };
    const fetched = async (id: string, { uuid, part }: Item) => {
      const { body } = await relay.call('readContent', { params: { id, uuid, name: String(part.data) } });
      return { ...body, bytes: Buffer.from(body.data, 'base64') };
    };
    const all = await items('all');
    const tool = all.items.find(({ part }) => part.kind === 'tool' && Number(part.left) > 0)!;
    const { bytes, mime } = await fetched(all.id, tool);
    expect(mime).toBe('text/plain');
    const lines = bytes.toString('utf8').split('\n');
    expect(lines.filter((line) => /^line \d+$/.test(line))).toEqual(
      Array.from({ length: 3000 }, (_, n) => `line ${n}`),
    );
    const media = await items('media');
    const image = await fetched(
      media.id,
      media.items.find(({ part }) => part.kind === 'image')!,
    );
    expect([image.mime, image.size, image.bytes.equals(Buffer.alloc(3000))]).toEqual(['image/png', 3000, true]);
  });

  it('gets a permission question, answers it, and the same turn continues', async () => {
    const { update, said, create, tell } = await begin();
    await create('perm');
    const waiting = await update(({ status }) => status === 'waiting');
    expect(waiting.prompt).toMatchObject({
      prompt: 'Delete everything?',
      options: [{ label: 'Allow' }, { label: 'Reject' }],
    });
    expect((await tell(waiting.id, 'Reject')).status).toBe(202);
    await said('permission: n');
  });

  it('answers the form of an agent', async () => {
    const { update, said, create, tell } = await begin();
    await create('ask');
    const waiting = await update(({ status }) => status === 'waiting');
    await tell(waiting.id, '2');
    await said('elicited: {"action":"accept","content":{"color":"Blue"}}');
  });

  it('shows a crashed agent as a failed task, and can continue', async () => {
    const { update, said, create, tell } = await begin();
    await create('crash');
    const failed = await update(({ status }) => status === 'failed');
    await tell(failed.id, 'hello again');
    await said('echo 2: hello again');
  });

  it('cancels a turn, and the session is idle', async () => {
    const { app, update, create, tell, said } = await begin();
    await create('slow');
    await app.next('task_output');
    const running = await update(({ id, status }) => status === 'active' && !id.includes('PENDING'));
    const { status } = await relay.call('POST', `/api/sessions/${encodeURIComponent(running.id)}/cancel`);
    expect(status).toBe(202);
    await update(({ lastTask }) => lastTask?.state === 'cancelled');
    await tell(running.id, 'next');
    await said('echo 2: next');
  });

  it('continues a session after the daemon was restarted, and pages through its history', async () => {
    const { daemon, update, said, create, tell, start, agentHome } = await begin();
    await create('hello');
    const { id } = await update(({ status }) => status === 'idle');
    await daemon.stop();
    await start(demoAgent(home, { home: agentHome }).agent).connected();
    await tell(id, 'still there?');
    await said('echo 2: still there?');
    const path = `/api/sessions/${encodeURIComponent(id)}/messages`;
    const newest = (await relay.call('GET', `${path}?limit=3`)).body;
    expect((newest.messages as { content: string }[]).map(({ content }) => content)).toEqual([
      'echo 1: hello',
      'still there?',
      'echo 2: still there?',
    ]);
    const older = (await relay.call('GET', `${path}?limit=3&before=${newest.oldestUuid}`)).body;
    expect(older).toMatchObject({ hasMore: false, messages: [{ role: 'USER', content: 'hello' }] });
  });
});
