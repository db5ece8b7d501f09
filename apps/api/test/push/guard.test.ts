import { describe, expect, it } from '@jest/globals';
import { AddressRefused, createGuard, notPublic } from '../../src/push/guard.ts';
import { outcomeOfError } from '../../src/push/outcome.ts';

const guard = createGuard(['ntfy.internal:8080', '127.0.0.1:9000']);

describe('the guard of user-supplied addresses', () => {
  it.each([
    'https://ntfy.sh',
    'https://ntfy.sh:443/topic',
    'https://93.184.216.34/hook',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'http://ntfy.internal:8080/x',
    'http://127.0.0.1:9000/',
  ])('accepts %s', (address) => {
    expect(guard.check(address)).toMatchObject({ url: expect.any(URL) });
  });

  it.each([
    'http://ntfy.sh',
    'https://ntfy.sh:8443',
    'ftp://ntfy.sh',
    'javascript:alert(1)',
    'not an address',
    'https://ada:secret@ntfy.sh/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://localhost/',
    'https://redis/',
    'https://relay.cluster.local/',
    'https://metadata.google.internal/',
    'http://ntfy.internal:8081/',
    'http://127.0.0.1:9001/',
    `https://ntfy.sh/${'x'.repeat(1000)}`,
  ])('refuses %s', (address) => {
    expect(guard.check(address)).toMatchObject({ why: expect.any(String) });
  });

  const open = { address: '93.184.216.34', family: 4 };
  const inner = { address: '10.1.2.3', family: 4 };

  it.each([
    'https://[::1.2.3.4]/',
    'https://[::7f00:1]/',
    'https://[::a9fe:a9fe]/',
    'https://[::]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[fec0::1]/',
    'https://[::ffff:0:7f00:1]/',
    'https://[100::1]/',
    'https://localhost./',
    'https://LOCALHOST../',
    'https://api.localhost./',
    'https://redis./',
    'https://relay.cluster.local./',
    'https://router.lan/',
    'https://nas.home.arpa/',
    'https://127.0.0.1./',
  ])('S11: refuses %s', (address) => {
    expect(guard.check(address)).toEqual({ why: notPublic });
  });

  it('S11: refuses an internal name and a missing name with the same text', async () => {
    const outcomes = [];
    for (const answer of [
      { found: [inner] },
      { code: 'ENOTFOUND' },
      { found: [] },
      { found: [{ address: '::7f00:1', family: 6 }] },
    ]) {
      const looking = createGuard([], (_host, then) =>
        'code' in answer ? then(Object.assign(new Error('x'), { code: answer.code }), []) : then(null, answer.found),
      ).lookupFor(new URL('https://hook.example.com/'));
      const error = await new Promise((resolve) => looking('hook.example.com', {}, resolve));
      outcomes.push(outcomeOfError(error, 1, () => 0.5));
    }
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ state: 'failed', reason: notPublic });
  });

  const lookUp = (given: { address: string; family: number }[], url = 'https://hook.example.com/') =>
    new Promise<unknown>((resolve) => {
      const looking = createGuard(['hook.example.com:8080'], (_host, then) => then(null, given)).lookupFor(
        new URL(url),
      );
      looking('hook.example.com', { all: true }, (error, found) => resolve(error ?? found));
    });

  it('gives the socket exactly the checked addresses', async () => {
    expect(await lookUp([open])).toEqual([open]);
  });

  it.each([
    ['a name of an internal address', [inner]],
    ['a name with one internal address among others', [open, inner]],
    ['a loopback name in IPv6', [{ address: '::ffff:127.0.0.1', family: 6 }]],
  ])('refuses %s', async (_name, found) => {
    expect(await lookUp(found)).toBeInstanceOf(AddressRefused);
  });

  it('fails for a name without an address', async () => {
    expect(await lookUp([])).toBeInstanceOf(Error);
  });

  it("allows the operator's internal host, on its port only", async () => {
    expect(await lookUp([inner], 'http://hook.example.com:8080/')).toEqual([inner]);
    expect(await lookUp([inner], 'https://hook.example.com/')).toBeInstanceOf(AddressRefused);
  });
});
