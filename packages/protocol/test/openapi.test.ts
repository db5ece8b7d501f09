/** The OpenAPI document is consistent and matches `routes`. */
import { describe, expect, it } from '@jest/globals';
import { errorCatalogue, type Route, routes } from '../src/index.ts';
import { openApiDocument } from '../src/documents/index.ts';
import { compiler, follow, references } from './documents.ts';
import { violations } from './violations.ts';

interface Operation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: ({ name: string; in: string; schema: object } | { $ref: string })[];
  requestBody?: { content: { 'application/json': { schema: { $ref: string }; example?: unknown } } };
  responses: Record<
    string,
    {
      description: string;
      headers: object;
      content?: {
        'application/json': {
          schema: { $ref?: string; anyOf?: { $ref: string }[] };
          example?: unknown;
          examples?: object;
        };
      };
    }
  >;
}

const document = openApiDocument({ baseUrl: 'https://relay.example.com', version: '7.8.9' });
const paths = document.paths as unknown as Record<string, Record<string, Operation>>;
const allRoutes = Object.entries<Route>(routes);
const operationOf = ({ path, method }: Route): Operation | undefined =>
  paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);
/** Compiles each schema once. */
const compile = compiler(document);

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1, with the address and version that it was asked for', () => {
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\.\d$/),
      info: { version: '7.8.9' },
      servers: [{ url: 'https://relay.example.com' }],
    });
  });

  it('has only references that lead somewhere', () => {
    const broken = references(document).filter(
      ({ ref }) => !ref.startsWith('#/') || follow(document, ref) === undefined,
    );
    expect(broken).toEqual([]);
    expect(references(document).length).toBeGreaterThan(100);
  });

  it('has schemas that all compile', () => {
    const { schemas } = document.components as { schemas: object };
    expect(violations(Object.entries(schemas), (_schema, name) => compile(`#/components/schemas/${name}`))).toEqual([]);
  });

  it('has every route under its path and method', () => {
    expect(
      violations(allRoutes, (route, name) => {
        expect(operationOf(route)).toMatchObject({ operationId: name, summary: route.summary });
      }),
    ).toEqual([]);
  });

  it('has one operation per route, with unique names', () => {
    expect(operations.map(([, { operationId }]) => operationId).sort()).toEqual(Object.keys(routes).sort());
  });

  it('asks for the credential of every route', () => {
    const expected = {
      none: [],
      optional: ['', 'userToken'],
      user: ['userToken'],
      answer: ['answerToken'],
      'user-or-device': ['userToken', 'deviceToken'],
    };
    expect(
      violations(allRoutes, (route) => {
        const schemes = operationOf(route)?.security.map((choice) => Object.keys(choice).join());
        expect(schemes).toEqual(expected[route.credential]);
      }),
    ).toEqual([]);
  });

  it('declares every parameter in the path of each operation', () => {
    expect(
      violations(operations, ({ parameters = [] }, path) => {
        const inPath = parameters.filter((one) => 'in' in one && one.in === 'path');
        expect(inPath.map((one) => 'name' in one && one.name)).toEqual(
          [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        );
      }),
    ).toEqual([]);
  });

  it('lists success and errors of every route by status', () => {
    expect(
      violations(allRoutes, (route) => {
        const statuses = Object.keys(operationOf(route)?.responses ?? {});
        const errors = route.errors.map((code) => String(errorCatalogue[code].status));
        expect(statuses).toEqual(expect.arrayContaining([...Object.keys(route.success), ...errors, '500']));
      }),
    ).toEqual([]);
  });

  it('names only errors of the catalogue, each under its status, and every one of them has an example', () => {
    for (const [path, { responses }] of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        for (const code of Object.keys(content?.['application/json'].examples ?? {})) {
          const row = errorCatalogue[code as keyof typeof errorCatalogue] as { status: number } | undefined;
          expect([path, code, row?.status]).toEqual([path, code, Number(status)]);
        }
      }
    }
    const { examples } = document.components as { examples: object };
    expect(Object.keys(examples)).toEqual(Object.keys(errorCatalogue));
  });

  it('has examples that fit the schemas beside them', () => {
    const bodies = operations.flatMap(([path, { requestBody, responses }]) =>
      [requestBody, ...Object.values(responses)].flatMap((body) => {
        const { schema, example } = body?.content?.['application/json'] ?? {};
        return schema?.$ref && example !== undefined ? [{ path, ref: schema.$ref, example }] : [];
      }),
    );
    for (const { path, ref, example } of bodies) expect([path, compile(ref)(example)]).toEqual([path, []]);
    expect(bodies.length).toBeGreaterThan(30);
  });

  it('has error examples that fit the error body', () => {
    const check = compile('#/components/schemas/ErrorResponse');
    const { examples } = document.components as { examples: Record<string, { value: unknown }> };
    for (const { value } of Object.values(examples)) expect(check(value)).toEqual([]);
  });

  it('lets polling answer with the strings of RFC 8628 too', () => {
    const schema = operationOf(routes.pollCode)?.responses['400']?.content?.['application/json'].schema;
    expect(schema?.anyOf?.map(({ $ref }) => $ref)).toContain('#/components/schemas/PollErrorResponse');
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});
