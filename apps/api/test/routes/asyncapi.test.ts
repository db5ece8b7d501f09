import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { attentionFrames, fromDaemonFrames, toDaemonFrames } from '@relay/protocol';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectSuccess } from '../answers.ts';

describe('GET /api/asyncapi.json', () => {
  let relay: TestRelay;
  let document: { asyncapi: string; servers: Record<string, { host: string; protocol: string }> };
  beforeAll(async () => {
    relay = await startRelay();
    const answer = await relay.call('asyncapi', { user: null });
    document = expectSuccess('asyncapi', 200, answer) as typeof document;
  });
  afterAll(() => relay.stop());

  it('is AsyncAPI 3 of this relay, over WebSockets at the address that people use', () => {
    expect(document.asyncapi).toMatch(/^3\./);
    const { host, protocol } = new URL(relay.config.publicUrl.replace(/^http/, 'ws'));
    const servers = Object.values(document.servers);
    expect(servers.length).toBeGreaterThan(0);
    for (const server of servers) expect(`${server.protocol}: ${server.host}`).toBe(`${protocol} ${host}`);
  });

  it('has both paths and every frame', () => {
    const text = JSON.stringify(document);
    for (const path of ['/ws/attention', '/ws/daemon']) expect(text).toContain(path);
    const frames = [...Object.keys(attentionFrames), ...Object.keys(fromDaemonFrames), ...Object.keys(toDaemonFrames)];
    for (const type of frames) expect(text).toContain(`"${type}"`);
  });

  it('has only references that lead somewhere', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
    const broken = refs.filter((path) => {
      const names = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
      return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], document) === undefined;
    });
    expect(broken).toEqual([]);
    expect(refs.length).toBeGreaterThan(20);
  });
});
