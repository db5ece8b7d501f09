import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectDaemon, registerDevice, startRelay } from '@relay/testing';
import { knock } from './knock.ts';

describe('the log of a gateway', () => {
  const lines: string[] = [];
  const logged = (words: string) =>
    lines
      .filter((line) => line.includes(words))
      .map((line) => JSON.parse(line) as { level: string; code?: string; deviceId?: string });
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { logLevel: 'info' }, log: { write: (line) => void lines.push(line) } });
  });
  afterAll(() => relay.stop());

  it('names the code and the device of a refusal, never the token, and not all of many', async () => {
    const { deviceId, refreshToken, agentType } = await registerDevice(relay);
    const stranger = { 'X-Device-ID': '01J00000000000000000000000', 'X-Agent-Type': agentType };
    const { body } = await knock(relay, { ...stranger, Authorization: `Bearer ${refreshToken}` });
    expect(body.code).toBe('INVALID_TOKEN');
    expect(logged('a daemon was refused')).toMatchObject([
      { level: 'info', code: 'INVALID_TOKEN', deviceId: '01J00000000000000000000000' },
    ]);
    expect(lines.join('')).not.toContain(refreshToken);
    await Promise.all(Array.from({ length: 200 }, () => knock(relay, { 'X-Device-ID': deviceId })));
    expect(logged('UNAUTHORIZED').length).toBeLessThan(100);
  });

  it('names the device whose older connection had to go', async () => {
    const registration = await registerDevice(relay);
    const daemon = await connectDaemon(relay, { registration });
    const again = await connectDaemon(relay, { registration });
    expect((await daemon.closed).code).toBe(4409);
    const [line] = logged('a newer connection took over');
    expect(line).toMatchObject({ deviceId: daemon.deviceId });
    await again.drop();
  });

  it('K9: names the device whose frames are dropped and the field that is wrong, once for many', async () => {
    const daemon = await connectDaemon(relay);
    for (let n = 0; n < 5; n += 1) daemon.event('t', 'WAIT_FOR_USER', { prompt: { text: 'my secret' } });
    daemon.send({ type: 'something new' });
    await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'later' } });
    await daemon.next('task_start');
    daemon.event('t', 'PROGRESS', { action: 'x' });
    await daemon.close();
    expect(logged('was dropped')).toMatchObject([{ level: 'warn', deviceId: daemon.deviceId }]);
    expect(lines.join('')).toContain('event WAIT_FOR_USER');
    expect(lines.join('')).not.toContain('my secret');
  });
});
