import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Route, attentionFrames, errorCatalogue, fromDaemonFrames, routes, toDaemonFrames } from '@relay/protocol';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectSuccess } from '../answers.ts';

interface OpenApi {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, { operationId: string }>>;
}
interface AsyncApi {
  asyncapi: string;
  servers: Record<string, { host: string; protocol: string }>;
}

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(() => relay.stop());

/** Returns the references of a document, and the broken ones. */
function referencesOf(document: object) {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
  const broken = refs.filter((path) => {
    const names = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], document) === undefined;
  });
  return { refs, broken };
}

describe('GET /api/openapi.json', () => {
  let document: OpenApi;
  beforeAll(async () => {
    document = expectSuccess('openapi', 200, await relay.call('openapi', { user: null })) as OpenApi;
  });

  it('is OpenAPI 3.1 of this relay, with its public address', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('1.0.0');
    expect(document.servers).toEqual([{ url: relay.config.publicUrl }]);
  });

  it('lists every served route, and the relay serves every listed operation', async () => {
    const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, { operationId }]) => ({
        operationId,
        method: method.toUpperCase(),
        path,
      })),
    );
    const served = Object.entries<Route>(routes).map(
      ([name, { method, path }]) => `${name} ${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(operations.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`).sort()).toEqual(
      served.sort(),
    );
    const unserved: string[] = [];
    for (const { method, path } of operations) {
      const { body } = await relay.call(method, path.replaceAll(/\{\w+\}/g, 'x'), { user: null });
      const code = body?.code as string | undefined;
      if (code === 'NOT_FOUND' || code === 'METHOD_NOT_ALLOWED') unserved.push(`${method} ${path}: ${code}`);
    }
    expect(unserved).toEqual([]);
  });

  it('has no broken reference', () => {
    const { refs, broken } = referencesOf(document);
    expect(broken).toEqual([]);
    expect(refs.length).toBeGreaterThan(100);
  });

  it('names the codes of the catalogue and no others', () => {
    const text = JSON.stringify(document);
    const named = new Set([...text.matchAll(/#\/components\/examples\/([A-Z_]+)/g)].map(([, code]) => code));
    expect([...named].filter((code) => !(code! in errorCatalogue))).toEqual([]);
    expect(named.size).toBeGreaterThan(20);
  });
});

describe('GET /api/asyncapi.json', () => {
  let document: AsyncApi;
  beforeAll(async () => {
    document = expectSuccess('asyncapi', 200, await relay.call('asyncapi', { user: null })) as AsyncApi;
  });

  it('is AsyncAPI 3 of this relay, over WebSockets at its public address', () => {
    expect(document.asyncapi).toMatch(/^3\./);
    const { host, protocol } = new URL(relay.config.publicUrl.replace(/^http/, 'ws'));
    const servers = Object.values(document.servers);
    expect(servers.length).toBeGreaterThan(0);
    for (const server of servers) expect(`${server.protocol}: ${server.host}`).toBe(`${protocol} ${host}`);
  });

  it('has both paths and every frame', () => {
    const text = JSON.stringify(document);
    const frames = [attentionFrames, fromDaemonFrames, toDaemonFrames].flatMap((table) => Object.keys(table));
    const expected = ['/ws/attention', '/ws/daemon', ...frames.map((type) => `"${type}"`)];
    expect(expected.filter((part) => !text.includes(part))).toEqual([]);
  });

  it('has no broken reference', () => {
    const { refs, broken } = referencesOf(document);
    expect(broken).toEqual([]);
    expect(refs.length).toBeGreaterThan(20);
  });
});
