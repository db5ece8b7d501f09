/** Routes of an instance itself, and the documents of the API. */
import { Type, line, list, maybe, oneOf, record } from '../schema.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

const Health = body(
  record('Health', 'The process is alive.', {
    status: Type.Literal('ok'),
    version: line('Like 1.0.0'),
    capabilities: list(
      line('A name'),
      'Capabilities of the relay beyond the specification, as in `X-Relay-Capabilities`',
      { maxItems: 64 },
    ),
  }),
  { status: 'ok', version: '1.0.0', capabilities: ['transcript', 'prompts', 'settings', 'controls'] },
);

const Readiness = body(
  record('Readiness', 'Whether this instance accepts work.', {
    status: oneOf(
      ['ok', 'degraded', 'unavailable', 'draining'],
      'Verdict. A `degraded` instance accepts work (200): an api without Redis still reaches the database, and answers 503 to requests that need another instance',
    ),
    checks: Type.Record(Type.String(), oneOf(['ok', 'failed'], 'Verdict of one dependency')),
    schema: maybe(oneOf(['newer'], 'A newer release migrated the database; this release is compatible with it')),
  }),
  { status: 'ok', checks: { database: 'ok', backplane: 'ok' } },
);

const served = body(Type.Object({}), {});

export const systemRoutes = {
  health: {
    method: 'GET',
    path: '/health',
    credential: 'none',
    summary: 'Whether the process is alive',
    success: { 200: Health },
    errors: [],
    limit: 'none',
  },
  ready: {
    method: 'GET',
    path: '/ready',
    credential: 'none',
    summary: 'Whether this instance accepts work',
    success: { 200: Readiness, 503: Readiness },
    errors: [],
    limit: 'none',
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    credential: 'none',
    summary: 'This document',
    success: { 200: served },
    errors: [],
  },
  asyncapi: {
    method: 'GET',
    path: '/api/asyncapi.json',
    credential: 'none',
    summary: 'The WebSocket planes',
    success: { 200: served },
    errors: [],
  },
} as const satisfies Rows;
