import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptSecret } from '../src/secret.ts';

describe('the secret of the sign-in', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-secret-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is made once per folder, for its owner alone', () => {
    const dir = join(folder, 'data');
    const secret = keptSecret(dir);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(keptSecret(dir)).toBe(secret);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, 'auth-secret')).mode & 0o777).toBe(0o600);
    expect(keptSecret(join(folder, 'other'))).not.toBe(secret);
  });

  it('closes again after a copy opened it to others', () => {
    keptSecret(folder);
    chmodSync(join(folder, 'auth-secret'), 0o644);
    keptSecret(folder);
    expect(statSync(join(folder, 'auth-secret')).mode & 0o777).toBe(0o600);
  });

  it('stays unchanged when its file is damaged', () => {
    writeFileSync(join(folder, 'auth-secret'), 'short\n');
    expect(() => keptSecret(folder)).toThrow(/auth-secret holds no secret.*addresses to notify/);
  });
});
