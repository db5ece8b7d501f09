import { describe, expect, it } from '@jest/globals';
import { type DeviceRecord, hashDeviceToken, createDeviceVerifier, deriveDeviceToken } from '../src/index.ts';
import { startMs, outcome, testClock } from './issuer.ts';

const token = deriveDeviceToken('code', 'salt');
const stranger = deriveDeviceToken('code', 'other salt');
const minute = 60_000;

function record(change: Partial<DeviceRecord> = {}): DeviceRecord {
  return {
    tokenHash: hashDeviceToken(token),
    ownerId: 'o',
    agentType: 'codex',
    removedAt: null,
    revokedAt: null,
    ...change,
  };
}

interface State {
  record: DeviceRecord | undefined;
  asked: string[];
  failure: Error | undefined;
}

function setUp(first = record()) {
  const clock = testClock();
  const state: State = { record: first, asked: [], failure: undefined };
  const lookup = async (deviceId: string): Promise<DeviceRecord | undefined> => {
    state.asked.push(deviceId);
    await Promise.resolve();
    if (state.failure) throw state.failure;
    return deviceId === 'dev-1' ? state.record : undefined;
  };
  return { clock, state, verifier: createDeviceVerifier({ lookup, clock }) };
}

describe('a device', () => {
  it('is authenticated by its token', async () => {
    const { verifier } = setUp();
    expect(await verifier.verify(token, 'dev-1')).toEqual({
      kind: 'device',
      deviceId: 'dev-1',
      ownerId: 'o',
      agentType: 'codex',
    });
  });

  it("fails with another device's token, after a single lookup", async () => {
    const { verifier, state } = setUp();
    expect(await outcome(verifier.verify(stranger, 'dev-1'))).toBe('INVALID_TOKEN');
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('accepted');
    expect(state.asked).toEqual(['dev-1']);
  });

  it.each(['', 'rly_drt_x', `${token}x`, token.slice(0, -1), 'eyJ.eyJ.x', token.replace('rly', 'RLY')])(
    'with the garbage %j as a token is refused without asking',
    async (garbage) => {
      const { verifier, state } = setUp();
      expect(await outcome(verifier.verify(garbage, 'dev-1'))).toBe('INVALID_TOKEN');
      expect(state.asked).toEqual([]);
    },
  );

  it.each(['', 'a:b', 'a\u0000', 'x'.repeat(513)])(
    'with the impossible id %j is refused without asking',
    async (id) => {
      const { verifier, state } = setUp();
      expect(await outcome(verifier.verify(token, id))).toBe('INVALID_TOKEN');
      expect(state.asked).toEqual([]);
    },
  );

  it.each<readonly [string, Partial<DeviceRecord>, string]>([
    ['was revoked', { revokedAt: new Date(startMs) }, 'TOKEN_REVOKED'],
    ['was revoked and lost its hash', { revokedAt: new Date(startMs), tokenHash: null }, 'TOKEN_REVOKED'],
    ['was removed', { removedAt: new Date(startMs) }, 'TOKEN_REVOKED'],
    ['was removed and lost its hash', { removedAt: new Date(startMs), tokenHash: null }, 'TOKEN_REVOKED'],
    ['never had a credential', { tokenHash: null }, 'INVALID_TOKEN'],
    ['has a hash of another form', { tokenHash: 'abc' }, 'INVALID_TOKEN'],
    ['was away for too long', { expiresAt: new Date(startMs) }, 'TOKEN_EXPIRED'],
    ['has time left', { expiresAt: new Date(startMs + 1) }, 'accepted'],
    ['has no end', { expiresAt: null }, 'accepted'],
  ])('that %s', async (_, change, expected) => {
    const { verifier } = setUp(record(change));
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe(expected);
  });

  it('reports its revocation only to the holder of its token', async () => {
    const { verifier } = setUp(record({ revokedAt: new Date(startMs) }));
    expect(await outcome(verifier.verify(stranger, 'dev-1'))).toBe('INVALID_TOKEN');
  });

  it('expires in the cache', async () => {
    const { verifier, clock, state } = setUp(record({ expiresAt: new Date(startMs + 10) }));
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('accepted');
    clock.advance(10);
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('TOKEN_EXPIRED');
    expect(state.asked).toHaveLength(1);
  });
});

describe('an answer', () => {
  it('stays in the cache for a minute', async () => {
    const { verifier, clock, state } = setUp();
    await verifier.verify(token, 'dev-1');
    state.record = undefined;
    clock.advance(minute - 1);
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('accepted');
    clock.advance(1);
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('INVALID_TOKEN');
    expect(state.asked).toHaveLength(2);
  });

  it('an unknown device stays in the cache for a minute too', async () => {
    const { verifier, clock, state } = setUp();
    for (let i = 0; i < 5; i += 1)
      expect(await outcome(verifier.verify(token, 'unknown-device'))).toBe('INVALID_TOKEN');
    expect(state.asked).toHaveLength(1);
    clock.advance(minute);
    await outcome(verifier.verify(token, 'unknown-device'));
    expect(state.asked).toHaveLength(2);
  });

  it('serves all concurrent callers', async () => {
    const { verifier, state } = setUp();
    const asked = [token, stranger, token].map((text) => outcome(verifier.verify(text, 'dev-1')));
    expect(await Promise.all(asked)).toEqual(['accepted', 'INVALID_TOKEN', 'accepted']);
    expect(state.asked).toEqual(['dev-1']);
  });

  it('can be forgotten, with any result', async () => {
    const { verifier, state } = setUp();
    await verifier.verify(token, 'dev-1');
    state.record = record({ revokedAt: new Date(startMs) });
    verifier.forget('dev-1');
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('TOKEN_REVOKED');
    state.record = undefined;
    verifier.forget('dev-1');
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('INVALID_TOKEN');
    state.record = record();
    verifier.forget('dev-1');
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('accepted');
  });

  it('that is older than the forgetting is asked for again', async () => {
    const answers: ((value: DeviceRecord | undefined) => void)[] = [];
    const lookup = (): Promise<DeviceRecord | undefined> => new Promise((resolve) => answers.push(resolve));
    const verifier = createDeviceVerifier({ lookup, clock: testClock() });

    const early = outcome(verifier.verify(token, 'dev-1'));
    expect(answers).toHaveLength(1);
    verifier.forget('dev-1');
    const late = outcome(verifier.verify(token, 'dev-1'));
    expect(answers).toHaveLength(2);
    answers[1]?.(record({ revokedAt: new Date(startMs) }));
    expect(await late).toBe('TOKEN_REVOKED');
    answers[0]?.(record());
    expect(await early).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('TOKEN_REVOKED');
    expect(answers).toHaveLength(2);
  });

  it('of many inventions pushes no real device out', async () => {
    const { verifier, state } = setUp();
    await verifier.verify(token, 'dev-1');
    for (let i = 0; i < 10_050; i += 1) await outcome(verifier.verify(token, `invented-${i}`));
    state.record = undefined;
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('accepted');
    // The cache dropped the oldest inventions, so its memory has a limit.
    const before = state.asked.length;
    await outcome(verifier.verify(token, 'invented-0'));
    expect(state.asked.length).toBe(before + 1);
  });
});

describe('a lookup that fails', () => {
  it('does not affect the credential: its error goes through unchanged', async () => {
    const { verifier, state } = setUp();
    state.failure = new Error('the database is away');
    const both = [verifier.verify(token, 'dev-1'), verifier.verify(token, 'dev-1')];
    for (const attempt of both) await expect(attempt).rejects.toBe(state.failure);
    expect(state.asked).toHaveLength(1);
  });

  it('stays out of the cache', async () => {
    const { verifier, state } = setUp();
    state.failure = new Error('the database is away');
    await expect(verifier.verify(token, 'dev-1')).rejects.toBe(state.failure);
    state.failure = undefined;
    expect(await outcome(verifier.verify(token, 'dev-1'))).toBe('accepted');
  });

  it('can throw synchronously', async () => {
    const failure = new Error('closed');
    const verifier = createDeviceVerifier({
      lookup: () => {
        throw failure;
      },
    });
    await expect(verifier.verify(token, 'dev-1')).rejects.toBe(failure);
  });
});
