import { afterEach, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay, Browser } from '@relay/testing';

let relay: TestRelay;
afterEach(() => relay.stop());

const guess = (address: Record<string, string>, api = 0) => {
  const browser = new Browser(relay);
  browser.api = api;
  return browser.send('POST', '/auth/sign-in/email', {
    body: { email: 'alice@example.com', password: 'wrong password' },
    headers: address,
  });
};

describe('guessing passwords', () => {
  it('stops after a few attempts of one address with any headers, on every instance', async () => {
    relay = await startRelay({ identity: true, apis: 2, config: { signInPerMinute: 5 } });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const forged = `10.0.0.${attempt}`;
      const { status } = await guess(
        {
          'X-Forwarded-For': forged,
          'X-Real-IP': forged,
          'X-Client-IP': forged,
          'CF-Connecting-IP': forged,
          Forwarded: `for=${forged}`,
          'X-Relay-Client-Address': forged,
        },
        attempt % 2,
      );
      statuses.push(status);
    }
    expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(new Set(statuses.slice(5))).toEqual(new Set([429]));
    const refused = await guess({});
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('counts by the address that a trusted proxy reports', async () => {
    relay = await startRelay({ identity: true, config: { signInPerMinute: 2, trustProxy: 1 } });
    const from = (address: string) => guess({ 'X-Forwarded-For': `6.6.6.6, ${address}` }).then(({ status }) => status);
    expect([await from('10.0.0.1'), await from('10.0.0.1'), await from('10.0.0.1')]).toEqual([401, 401, 429]);
    expect(await from('10.0.0.2')).toBe(401);
  });

  it('gets the same answer for an existing and a missing account', async () => {
    relay = await startRelay({ identity: true });
    await new Browser(relay).signUp('alice@example.com');
    const known = await guess({});
    const browser = new Browser(relay);
    const unknown = await browser.signIn('nobody@example.com', 'wrong password');
    expect(unknown.status).toBe(known.status);
    expect(unknown.body).toEqual(known.body);
  });
});
