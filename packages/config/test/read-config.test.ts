import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { defaults, readConfig } from '../src/index.ts';
import { messagesOf } from './problems.ts';

describe('reading the environment', () => {
  it('gives the documented defaults when nothing is set', () => {
    expect(readConfig('standalone', {})).toMatchObject({
      role: 'standalone',
      port: 4000,
      host: '127.0.0.1',
      publicUrl: 'http://localhost:4000',
      dataDir: resolve('data'),
      databaseUrl: undefined,
      redisUrl: undefined,
      authBuiltin: true,
      authSignup: 'invite',
      authDevIssuer: false,
      authIssuers: [],
      trustProxy: false,
      metricsPort: 9464,
      logLevel: 'info',
      instanceName: hostname(),
      drainSeconds: 2,
      rateLimitPerMinute: 100,
      sessionCreatePerMinute: 10,
      agentTurnsPerHour: 60,
      queueLimit: 20,
      framesPerSecond: 200,
      frameBurst: 1000,
    });
  });

  it('gives every timing its default', () => {
    expect(readConfig('standalone', {})).toMatchObject({
      pingIntervalMs: 30_000,
      silenceTimeoutMs: 75_000,
      offlineGraceMs: 10_000,
      statusWaitMs: 2_000,
      statusLostMs: 5_000,
      deskWaitMs: 20_000,
      taskSilenceMs: 900_000,
      deviceGoneMs: 86_400_000,
      sweepIntervalMs: 30_000,
      leaseTtlMs: 60_000,
      leaseRefreshMs: 20_000,
      daemonReplyTimeoutMs: 10_000,
      commandTimeoutMs: 2_000,
      progressIntervalMs: 500,
      progressFlushMs: 2_000,
      openSessionMs: 300_000,
      dedupeWindowMs: 30_000,
      queueTtlDefaultSeconds: 900,
      credentialRecheckMs: 300_000,
      lastSeenFlushMs: 300_000,
      deviceCodeTtlSeconds: 900,
      devicePollIntervalSeconds: 5,
      ticketTtlSeconds: 30,
      outboxPollMs: 5_000,
      rateWindowMs: 60_000,
      malformedWindowMs: 60_000,
      slowReaderStallMs: 10_000,
      vacuumIntervalMs: 3_600_000,
      expiryToleranceMs: 5_000,
      idempotencyTtlSeconds: 86_400,
    });
  });

  it('gives the separate doors other defaults than the single process', () => {
    for (const role of ['api', 'gateway'] as const) {
      expect(defaults(role)).toMatchObject({ role, host: '0.0.0.0', drainSeconds: 30, authDevIssuer: false });
    }
  });

  it('reads every kind of value', () => {
    const config = readConfig('standalone', {
      PORT: ' 8080 ',
      HOST: '::1',
      PUBLIC_URL: 'https://relay.example.com/',
      ALLOWED_ORIGINS: 'https://app.example.com, capacitor://localhost,,https://app.example.com',
      TRUST_PROXY: '10.0.0.0/8, loopback',
      DATA_DIR: 'somewhere',
      DATABASE_URL: 'postgresql://relay:secret@db/relay',
      AUTH_DEV_ISSUER: 'on',
      AUTH_SIGNUP: 'closed',
      AUTH_SECRET: `${'a'.repeat(32)}, ${'b'.repeat(40)}`,
      LOG_LEVEL: 'debug',
      INSTANCE_NAME: 'relay-1',
      DRAIN_SECONDS: '0',
      PING_INTERVAL_MS: '20',
    });
    expect(config).toMatchObject({
      port: 8080,
      host: '::1',
      publicUrl: 'https://relay.example.com',
      allowedOrigins: ['https://app.example.com', 'capacitor://localhost'],
      trustProxy: ['10.0.0.0/8', 'loopback'],
      dataDir: resolve('somewhere'),
      databaseUrl: 'postgresql://relay:secret@db/relay',
      authDevIssuer: true,
      authSignup: 'closed',
      authSecret: ['a'.repeat(32), 'b'.repeat(40)],
      logLevel: 'debug',
      instanceName: 'relay-1',
      drainSeconds: 0,
      pingIntervalMs: 20,
    });
  });

  it('derives the public address from the port', () => {
    expect(readConfig('standalone', { PORT: '5000' }).publicUrl).toBe('http://localhost:5000');
  });

  it('keeps a path of the public address and drops its last slash', () => {
    expect(readConfig('standalone', { PUBLIC_URL: 'https://example.com/relay/' }).publicUrl).toBe(
      'https://example.com/relay',
    );
  });

  it('takes an empty variable for an absent one', () => {
    expect(readConfig('standalone', { PORT: '', DATABASE_URL: '  ', RELAY_NOTHING: '' }).port).toBe(4000);
  });

  it('takes 0 or off as no trusted proxy, and a number as hops', () => {
    expect(readConfig('standalone', { TRUST_PROXY: '0' }).trustProxy).toBe(false);
    expect(readConfig('standalone', { TRUST_PROXY: 'off' }).trustProxy).toBe(false);
    expect(readConfig('standalone', { TRUST_PROXY: '2' }).trustProxy).toBe(2);
  });

  it('reads its argument, not the environment of the process', () => {
    process.env['PORT'] = '1';
    try {
      expect(readConfig('standalone', {}).port).toBe(4000);
    } finally {
      delete process.env['PORT'];
    }
  });

  it('reports every problem at once, in the order of the table', () => {
    const messages = messagesOf('api', {
      PORT: '70000',
      LOG_LEVEL: 'loud',
      PING_INTERVAL_MS: '-1',
      AUTH_BUILTIN: 'yes',
      RELAY_MODE: 'x',
    });
    expect(messages.map((message) => message.split(' ')[0])).toEqual([
      'PORT',
      'AUTH_BUILTIN',
      'LOG_LEVEL',
      'PING_INTERVAL_MS',
      'REDIS_URL',
      'DATABASE_URL',
      'RELAY_MODE',
    ]);
  });
});
