/** Checks that apply to every answer of any route: the protocol's schema and its headers (rules, 6.1). */
import { expect } from '@jest/globals';
import {
  type ErrorCode,
  ErrorResponse,
  type Route,
  type RouteName,
  errorCatalogue,
  routes,
  sentenceOf,
  takesDetail,
  validator,
} from '@relay/protocol';
import type { Answer } from '@relay/testing';

/** Runs one check on every member in sequence. Returns the failures, each with its member's name and the reason. */
export async function violations<T>(
  members: readonly (readonly [name: string, member: T])[],
  check: (member: T, name: string) => Promise<void>,
): Promise<string[]> {
  if (members.length === 0) throw new Error('There is no member to check.');
  const found: string[] = [];
  for (const [name, member] of members)
    await check(member, name).catch((error: unknown) => found.push(`${name}: ${(error as Error).message}`));
  return found;
}

const isRefusal = validator(ErrorResponse);
const whole = /^\d+$/;

export function expectLimitHeaders({ headers }: Answer): void {
  expect(headers['x-ratelimit-limit']).toMatch(whole);
  expect(headers['x-ratelimit-remaining']).toMatch(whole);
  expect(headers['x-ratelimit-reset']).toMatch(whole);
}

/** Limits apply to everything under /api. A poll at its legal pace is not counted, so its success shows no limit. */
const showsLimit = (name: RouteName) => routes[name].path.startsWith('/api/') && name !== 'pollCode';

/** Expects this route's success with this status: body, type and headers. Returns the body. */
export function expectSuccess(name: RouteName, status: number, answer: Answer) {
  expect({ status: answer.status, text: answer.status === status ? '' : answer.text }).toEqual({ status, text: '' });
  const route: Route = routes[name];
  expect(Object.keys(route.success)).toContain(String(status));
  const schema = route.success[status];
  if (schema === undefined) expect(answer.text).toBe('');
  else {
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    const body: unknown = answer.body;
    expect(validator(schema)(body)).toEqual({ ok: true, value: body });
  }
  expect(answer.headers['x-request-id']).toMatch(/^[\w.:-]{1,64}$/);
  if (showsLimit(name)) expectLimitHeaders(answer);
  return answer.body as unknown;
}

/** Expects this error of the catalogue: status, sentence, body and headers. `naming`: text that `error` must contain. */
export function expectRefusal(answer: Answer, code: ErrorCode, naming?: string | RegExp): void {
  const { status } = errorCatalogue[code];
  const body = answer.body as { error: string };
  expect(body).toMatchObject({ code, status });
  expect(answer.status).toBe(status);
  expect(isRefusal(body)).toEqual({ ok: true, value: body });
  if (!takesDetail(code)) expect(body.error).toBe(sentenceOf(code));
  if (naming !== undefined) expect(body.error).toMatch(naming);
  expect(answer.headers['x-request-id']).toMatch(/^[\w.:-]{1,64}$/);
  if (status === 401 || code === 'INSUFFICIENT_SCOPE') expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  if (status === 429 || code === 'SERVICE_UNAVAILABLE') expect(answer.headers['retry-after']).toMatch(whole);
}
