/** A file from an app to a real agent and back, through two apis and a daemon that stops half-way. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Client, createClient, newFileId, sendFile } from '@relay/client';
import { acpAgent, createDaemon, exchangeOf, silentLog } from '@relay/daemon';
import type { Item } from '@relay/protocol';
import { type TestRelay, registerDevice, startRelay } from '@relay/testing';

let relay: TestRelay;
const later: (() => unknown)[] = [];
beforeAll(async () => {
  relay = await startRelay({ apis: 2 });
});
afterAll(async () => {
  for (const undo of later.reverse()) await undo();
  await relay.stop();
});

const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'relay-files-'));
  later.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

it('arrives once and whole, reaches the agent as a link, and its copy comes back as bytes', async () => {
  const { deviceId, refreshToken, agentType } = await registerDevice(relay);
  const [project, storeDir, agentHome] = [folder(), folder(), folder()];
  const rules = { defaultPath: project, allowed: [project] };
  const start = async () => {
    const daemon = createDaemon({
      ...{ server: relay.gateways[0]!.url, deviceId, refreshToken, agentType, storeDir, daemonVersion: '1.0.0' },
      agent: acpAgent({
        program: process.execPath,
        args: [fileURLToPath(new URL('../apps/daemon/scripts/demo-agent.mjs', import.meta.url))],
        ...{ rules, marker: project, env: { DEMO_AGENT_HOME: agentHome } },
        timings: { killAfterMs: 300, leaveMs: 2000 },
      }),
      exchange: exchangeOf({ rules, folder: join(storeDir, 'files'), outside: false, sends: true, log: silentLog }),
      timings: { initialDelayMs: 20, maxDelayMs: 100 },
    });
    later.push(() => daemon.stop());
    daemon.start();
    await daemon.connected();
    return daemon;
  };
  let daemon = await start();
  const bytes = randomBytes(25 * 1024 * 1024);
  const clients = relay.apis.map(({ url }) => createClient({ baseUrl: url, token: relay.token('alice') }));
  const id = newFileId();
  let sent = 0;
  const read = (offset: number, length: number) => {
    sent += length;
    return Promise.resolve(bytes.subarray(offset, offset + length));
  };
  const file = { id, name: 'sales of march.bin', size: bytes.length, read };
  const controller = new AbortController();
  const half = sendFile(clients[0]!, deviceId, file, {
    signal: controller.signal,
    onProgress: (received) => received > bytes.length / 2 && controller.abort(new Error('the api is gone')),
  });
  await expect(half).rejects.toThrow('the api is gone');
  await daemon.stop();
  const rest = sendFile(clients[1]!, deviceId, file);
  daemon = await start();
  expect(await rest).toMatchObject({ done: true, sha256: digest(bytes) });
  // The device kept the first half, perhaps without the piece on its way.
  expect(sent).toBeLessThanOrEqual(bytes.length + 2 * 1024 * 1024);

  const { taskId } = await clients[1]!.call('createSession', { body: { deviceId, message: 'files', files: [id] } });
  const task = async () => clients[1]!.call('readTask', { params: { id: taskId } });
  while (!['completed', 'failed'].includes((await task()).state))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const { state, result, sessionId } = await task();
  expect([state, result]).toEqual(['completed', `sales of march.bin has ${bytes.length} bytes.`]);
  const [short] = readdirSync(join(project, '.relay/files'));
  expect(statSync(join(project, '.relay/files', short!, 'sales of march.bin')).size).toBe(bytes.length);
  expect(readdirSync(join(storeDir, 'incoming'))).toEqual([]);

  const { messages } = await clients[0]!.call('readMessages', { params: { id: sessionId }, query: { parts: '1' } });
  const items = messages as unknown as Item[];
  expect(items[0]?.part).toMatchObject({ kind: 'user', files: [{ name: 'sales of march.bin', bytes: bytes.length }] });
  const copy = items.find(({ part }) => part.kind === 'file')!;
  expect(copy.part).toMatchObject({ name: 'copy of sales of march.bin', bytes: bytes.length });
  expect(digest(await download(clients[0]!, sessionId, copy.uuid))).toBe(digest(bytes));
});

/** The bytes as a browser gets them. */
async function download({ url }: Client, sessionId: string, uuid: string): Promise<Uint8Array> {
  const path = `/api/sessions/${encodeURIComponent(sessionId)}/items/${uuid}/content/file?download=1`;
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${relay.token('alice')}` } });
  expect(response.headers.get('content-disposition')).toContain('copy%20of%20sales%20of%20march.bin');
  return new Uint8Array(await response.arrayBuffer());
}
