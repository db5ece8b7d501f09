import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Route, errorCatalogue, routes } from '@relay/protocol';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectSuccess } from '../answers.ts';

interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, { operationId: string }>>;
  components: { schemas: Record<string, object> };
}

describe('GET /api/openapi.json', () => {
  let relay: TestRelay;
  let document: Document;
  beforeAll(async () => {
    relay = await startRelay();
    document = expectSuccess('openapi', 200, await relay.call('openapi', { user: null })) as Document;
  });
  afterAll(() => relay.stop());

  it('is OpenAPI 3.1 of this relay, at the address that people use', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('1.0.0');
    expect(document.servers).toEqual([{ url: relay.config.publicUrl }]);
  });

  it('lists every route that is served, and every listed operation is served', async () => {
    const listed = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
    );
    const served = Object.entries<Route>(routes).map(
      ([name, { method, path }]) => `${name} ${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(listed.sort()).toEqual(served.sort());
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const method of Object.keys(operations)) {
        const { body } = await relay.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'), { user: null });
        expect(body?.code).not.toBe('NOT_FOUND');
        expect(body?.code).not.toBe('METHOD_NOT_ALLOWED');
      }
    }
  });

  it('has only references that lead somewhere', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
    const broken = refs.filter((path) => {
      const names = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
      return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], document) === undefined;
    });
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
