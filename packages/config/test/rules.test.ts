import { describe, expect, it } from '@jest/globals';
import { problemsOf } from './problems.ts';
import { type Role, timings } from '../src/index.ts';

const issuers = '[{"issuer":"https://id.example.com","audience":"https://relay.example.com/api"}]';
const DATABASE_URL = 'postgres://db/relay';
const AUTH_SECRET = 'x'.repeat(32);
const https = { PUBLIC_URL: 'https://relay.example.com' };
const off = { AUTH_BUILTIN: 'off' };

function only(role: Role, env: NodeJS.ProcessEnv): [string | undefined, string | undefined] {
  const problems = problemsOf(role, env);
  expect(problems).toHaveLength(1);
  return [problems[0]?.variable, problems[0]?.message];
}

describe('combinations that cannot work', () => {
  it.each(['api', 'gateway'] as const)('the role %s without Redis is refused', (role) => {
    const [variable, message] = only(role, { DATABASE_URL, AUTH_SECRET, AUTH_ISSUERS: issuers });
    expect(variable).toBe('REDIS_URL');
    expect(message).toMatch(/REDIS_URL is missing; .*npm start/);
  });

  it.each([
    'redis://:hunter2@redis',
    'rediss://redis:6380/1',
    'redis+sentinel://a:26379,b:26379/relay',
    'redis+cluster://a:7001,b:7002',
  ])('the roles api and gateway start with Redis at %s', (REDIS_URL) => {
    expect(problemsOf('api', { DATABASE_URL, AUTH_SECRET, REDIS_URL, ...https })).toEqual([]);
    expect(problemsOf('gateway', { DATABASE_URL, REDIS_URL })).toEqual([]);
  });

  it('a partial Apple key is refused, naming the missing part', () => {
    const all = {
      APNS_KEY_FILE: 'apns.p8',
      APNS_KEY_ID: 'A'.repeat(10),
      APNS_TEAM_ID: 'B'.repeat(10),
      APNS_TOPIC: 'a.b',
    };
    expect(problemsOf('standalone', all)).toEqual([]);
    const [variable, message] = only('standalone', { ...all, APNS_KEY_ID: '', APNS_TOPIC: '' });
    expect(variable).toBe('APNS_KEY_ID');
    expect(message).toMatch(/^APNS_KEY_ID, APNS_TOPIC are missing; apps on iOS need all of APNS_KEY_FILE/);
  });

  it('the single process refuses a Redis address, without showing the password', () => {
    const [variable, message] = only('standalone', { REDIS_URL: 'redis://:hunter2@redis' });
    expect(variable).toBe('REDIS_URL');
    expect(message).toMatch(/remove it, or run several instances/);
    expect(message).not.toContain('hunter2');
  });

  it.each(['api', 'gateway'] as const)('the role %s without PostgreSQL is refused', (role) => {
    const problems = problemsOf(role, { AUTH_SECRET, AUTH_ISSUERS: issuers });
    expect(problems.map(({ variable }) => variable)).toEqual(['REDIS_URL', 'DATABASE_URL']);
  });

  it('the built-in sign-in needs an address that protects passwords in transit', () => {
    const [variable, message] = only('standalone', { PUBLIC_URL: 'http://relay.example.com' });
    expect(variable).toBe('PUBLIC_URL');
    expect(message).toMatch(/must be https .*AUTH_BUILTIN to off/);
    expect(problemsOf('standalone', { PUBLIC_URL: 'https://relay.example.com' })).toEqual([]);
    expect(problemsOf('standalone', { PUBLIC_URL: 'http://[::1]:4000' })).toEqual([]);
    const bring = { PUBLIC_URL: 'http://relay.example.com', AUTH_BUILTIN: 'off', AUTH_ISSUERS: issuers };
    expect(problemsOf('standalone', bring)).toEqual([]);
  });

  it.each(['api', 'gateway'] as const)(
    'the role %s is refused where credentials would travel in the clear, whichever service signs people in',
    (role) => {
      const env = { DATABASE_URL, REDIS_URL: 'redis://redis', AUTH_SECRET };
      for (const signIn of [{}, { ...off, AUTH_ISSUERS: issuers }]) {
        const [variable, message] = only(role, { ...env, ...signIn, PUBLIC_URL: 'http://relay.example.com' });
        expect(variable).toBe('PUBLIC_URL');
        expect(message).toMatch(/must be https.*TLS at the load balancer/);
        expect(problemsOf(role, { ...env, ...signIn, ...https })).toEqual([]);
        expect(problemsOf(role, { ...env, ...signIn, PUBLIC_URL: 'http://127.0.0.1:8080' })).toEqual([]);
      }
    },
  );

  it('instances with the built-in sign-in need a shared secret', () => {
    const env = { DATABASE_URL, AUTH_SECRET: undefined };
    expect(problemsOf('api', env).map(({ variable }) => variable)).toEqual(['REDIS_URL', 'AUTH_SECRET']);
    expect(problemsOf('api', { ...env, AUTH_BUILTIN: 'off', AUTH_ISSUERS: issuers })).toHaveLength(1);
  });

  it('the development issuer only works in the single process', () => {
    const problems = problemsOf('api', { DATABASE_URL, AUTH_SECRET, AUTH_DEV_ISSUER: 'on' });
    expect(problems.map(({ variable }) => variable)).toEqual(['REDIS_URL', 'AUTH_DEV_ISSUER']);
  });

  it('a relay needs at least one way to sign in', () => {
    expect(only('standalone', { ...off, HOST: '0.0.0.0' })).toEqual([
      'AUTH_ISSUERS',
      expect.stringMatching(/no one could sign in/),
    ]);
    expect(only('standalone', { ...off, AUTH_DEV_ISSUER: 'off' })[0]).toBe('AUTH_ISSUERS');
    expect(only('standalone', { ...off, AUTH_DEV_ISSUER: 'off', AUTH_ISSUERS: '[]' })[0]).toBe('AUTH_ISSUERS');
  });

  it('a gateway needs no issuer', () => {
    expect(problemsOf('gateway', { DATABASE_URL }).map(({ variable }) => variable)).toEqual(['REDIS_URL']);
  });

  it('the built-in sign-in is enough', () => {
    expect(problemsOf('standalone', { HOST: '0.0.0.0' })).toEqual([]);
  });

  it('an issuer turns the development issuer off, unless it is asked for', () => {
    expect(problemsOf('standalone', { HOST: '0.0.0.0', AUTH_ISSUERS: issuers })).toEqual([]);
    expect(problemsOf('standalone', { HOST: '0.0.0.0', AUTH_DEV_ISSUER: 'on' })).toEqual([]);
  });

  it.each([
    ['PING_INTERVAL_MS', { PING_INTERVAL_MS: '75000' }],
    ['FRAME_BURST', { FRAME_BURST: '199' }],
    ['METRICS_PORT', { PORT: '9464' }],
  ])('%s is refused beside a contradicting setting: %j', (variable, env) => {
    expect(only('standalone', env)[0]).toBe(variable);
  });

  it('a lease can be renewed once in half of its time', () => {
    // Pauses vary by a fifth, and begin after the previous renewal.
    expect(2 * timings.leaseRefreshMs).toBeLessThan(timings.leaseTtlMs);
  });

  it('metrics turned off collide with nothing', () => {
    expect(problemsOf('standalone', { PORT: '0', METRICS_PORT: '0' })).toEqual([]);
  });

  it('a rule skips an already refused value', () => {
    expect(only('standalone', { FRAMES_PER_SECOND: 'x', FRAME_BURST: '1' })[0]).toBe('FRAMES_PER_SECOND');
    expect(only('standalone', { ...off, AUTH_ISSUERS: '{', AUTH_DEV_ISSUER: 'off' })[0]).toBe('AUTH_ISSUERS');
  });
});
