import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { testConfig } from '../src/test-config.ts';

describe('the configuration for tests', () => {
  it('collides with nothing on the machine', () => {
    const config = testConfig();
    expect(config).toMatchObject({ port: 0, host: '127.0.0.1', metricsPort: 0, logLevel: 'silent', drainSeconds: 0 });
    expect(existsSync(config.dataDir)).toBe(false);
    expect(testConfig().dataDir).not.toBe(config.dataDir);
  });

  it('takes overrides last and the defaults of the role first', () => {
    expect(testConfig({ role: 'gateway', port: 7, pingIntervalMs: 5 })).toMatchObject({
      role: 'gateway',
      port: 7,
      pingIntervalMs: 5,
      silenceTimeoutMs: 75_000,
    });
  });
});
