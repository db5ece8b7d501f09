/** Questions of an agent at a real relay: the live conversation equals the stored one. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestRelay, connectApp, registerDevice, startRelay } from '@relay/testing';
import { createDaemon } from '../src/index.ts';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ config: { boundApprovals: 'off' } });
});
afterAll(() => relay.stop());
afterEach(() => home.clear());

interface Session {
  id: string;
  status: string;
  prompt?: { prompt: string; id?: string };
  lastTask?: { id: string; state: string };
}
interface Message {
  role: string;
  content: string;
}

async function begin(first: string) {
  const { deviceId, refreshToken, agentType } = await registerDevice(relay);
  const storeDir = home.folder();
  const agentHome = home.folder();
  const start = async () => {
    const daemon = createDaemon({
      server: relay.gateways[0]?.url ?? '',
      deviceId,
      refreshToken,
      agentType,
      agent: demoAgent(home, { home: agentHome }).agent,
      storeDir,
      daemonVersion: '1.0.0',
      timings: { initialDelayMs: 20, maxDelayMs: 100 },
    });
    home.later(() => daemon.stop());
    daemon.start();
    await daemon.connected();
    return daemon;
  };
  const daemon = await start();
  const app = await connectApp(relay);
  home.later(() => app.close());
  const update = (match: (session: Session) => boolean) =>
    app.next('session_update', ({ session }) => match(session as Session)).then(({ session }) => session as Session);
  await relay.call('POST', '/api/sessions', { body: { deviceId, message: first } });
  const waiting = await update(({ status }) => status === 'waiting');
  const path = `/api/sessions/${encodeURIComponent(waiting.id)}`;
  return {
    app,
    agentHome,
    update,
    waiting,
    session: async () => (await relay.call('GET', path)).body as unknown as Session,
    restart: async () => {
      await daemon.stop();
      await start();
    },
    tell: async (content: string) =>
      ((await relay.call('POST', `${path}/messages`, { body: { content } })).body as { taskId: string }).taskId,
    answer: (uuid: string | undefined, body: object) =>
      relay.call('POST', `${path}/prompts/${uuid}/answer`, { body }) as Promise<{
        status: number;
        body: { taskId: string };
      }>,
    /** As a connected app got them. */
    live: () =>
      app.inbox.all.flatMap(({ type, message }) => (type === 'new_message' ? [words(message as Message)] : [])),
    stored: async () => ((await relay.call('GET', `${path}/messages?limit=50`)).body.messages as Message[]).map(words),
  };
}

const words = ({ role, content }: Message) => `${role} ${content}`;

describe('a question at a real relay', () => {
  it('A1, A2: shows the refused command later, and that the agent stopped; live and stored', async () => {
    const { waiting, tell, update, live, stored } = await begin('permquiet');
    expect(waiting.prompt).toMatchObject({ prompt: 'Delete everything?' });
    const taskId = await tell('Reject');
    await update(({ lastTask }) => lastTask?.id === taskId && lastTask.state === 'completed');
    const conversation = [
      'USER permquiet',
      'AGENT I would like to delete it.',
      'AGENT Delete everything?\n\nrm -r build',
      'USER Reject',
      'AGENT The agent stopped, because it was not allowed to continue.',
    ];
    expect(live()).toEqual(conversation);
    expect(await stored()).toEqual(conversation);
  });

  it('A4: yields to the next step once withdrawn; a late answer is refused and never sent', async () => {
    const { agentHome, tell, update, live, stored } = await begin('meanwhile');
    writeFileSync(join(agentHome, 'go on'), '');
    const after = await update(({ status }) => status === 'idle');
    expect(after.prompt).toBeUndefined();
    const taskId = await tell('Allow');
    await update(({ lastTask }) => lastTask?.id === taskId && lastTask.state === 'failed');
    const next = await tell('hello');
    await update(({ lastTask }) => lastTask?.id === next && lastTask.state === 'completed');
    const conversation = [
      'USER meanwhile',
      'AGENT Run one?',
      'AGENT done meanwhile',
      'USER Allow',
      expect.stringMatching(/^SYSTEM “Run one\?” can no longer be answered: the agent no longer waits/),
      'USER hello',
      'AGENT echo 2: hello',
    ];
    expect(live()).toEqual(conversation);
    // The refused text reached neither the agent nor the local conversation.
    expect(await stored()).toEqual(conversation.filter((message) => message !== 'USER Allow'));
  });

  it("A4: is replaced by the agent's next question, which gets the answer", async () => {
    const { tell, update, session, live } = await begin('withdraw');
    const isSecond = ({ prompt }: Session) => prompt?.prompt === 'Run two?';
    const second = await session();
    if (!isSecond(second)) await update(isSecond);
    const taskId = await tell('Allow');
    await update(({ lastTask }) => lastTask?.id === taskId && lastTask.state === 'completed');
    expect(live().at(-1)).toBe('AGENT permission: y');
  });

  it('with a form shows its fields, and the agent gets all values at once', async () => {
    const { waiting, answer, update, live } = await begin('form');
    const { prompt } = waiting;
    expect(prompt).toMatchObject({
      kind: 'form',
      fields: [
        {
          name: 'size',
          title: 'Size',
          type: 'choice',
          required: true,
          choices: [{ id: 's', label: 'Small' }, { id: 'l' }],
        },
        { name: 'gift', title: 'Gift wrap', type: 'boolean', required: true },
        { name: 'note', title: 'Anything else', type: 'text' },
      ],
    });
    for (const fields of [{ size: 's' }, { size: 'xl', gift: true }, { size: 's', gift: 'yes' }])
      expect(await answer(prompt?.id, { fields })).toMatchObject({ status: 400, body: { code: 'INVALID_ANSWER' } });
    const given = await answer(prompt?.id, { fields: { size: 'l', gift: false, note: 'soon' } });
    await update(({ lastTask }) => lastTask?.id === given.body.taskId && lastTask?.state === 'completed');
    const content = JSON.stringify({ action: 'accept', content: { size: 'l', gift: false, note: 'soon' } });
    expect(live().slice(-2)).toEqual([
      'USER Size: l\nGift wrap: false\nAnything else: soon',
      `AGENT elicited: ${content}`,
    ]);
  });

  it('with a form can be answered field by field as text, and the rest of it with values', async () => {
    const { waiting, tell, answer, update, live } = await begin('form');
    await tell('Small');
    const second = await update(({ prompt }) => prompt?.id !== undefined && prompt.id !== waiting.prompt?.id);
    expect(second.prompt).toMatchObject({ kind: 'form', fields: [{ name: 'gift' }, { name: 'note' }] });
    const given = await answer(second.prompt?.id, { fields: { gift: true } });
    await update(({ lastTask }) => lastTask?.id === given.body.taskId && lastTask?.state === 'completed');
    expect(live().at(-1)).toBe('AGENT elicited: {"action":"accept","content":{"size":"s","gift":true}}');
  });

  it('A5: is closed when its daemon dies, and a late answer is refused', async () => {
    const { restart, tell, update, waiting, live } = await begin('perm');
    await restart();
    const failed = await update(({ id, status }) => id === waiting.id && status === 'failed');
    expect(failed.prompt).toBeUndefined();
    expect(live().at(-1)).toMatch(/^SYSTEM The daemon was stopped\. The agent’s question can no longer be answered/);
    const taskId = await tell('Allow');
    await update(({ lastTask }) => lastTask?.id === taskId && lastTask.state === 'failed');
    expect(live().at(-1)).toMatch(/^SYSTEM “Delete everything\?” can no longer be answered/);
    const next = await tell('go on');
    await update(({ lastTask }) => lastTask?.id === next && lastTask.state === 'completed');
    expect(live().at(-1)).toBe('AGENT echo 2: go on');
  });
});
