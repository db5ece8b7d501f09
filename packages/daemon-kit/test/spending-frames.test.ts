/** `spending_request` and `spending_response`: daily figures from a daemon whose agent reports usage. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Agent } from '../src/index.ts';
import { echo, house } from './house.ts';

const home = house();
afterEach(() => home.clear());

/** Each message is the total of its session so far. */
const spender: Agent = {
  tellsUpdates: true,
  capabilities: ['usage'],
  start({ message }, report) {
    report.update?.({
      sessionUpdate: 'usage_update',
      used: 5,
      size: 10,
      cost: { amount: Number(message), currency: 'USD' },
    });
    report.spent?.(100);
    report.complete('Done.');
    return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
  },
};
const range = { from: '2020-01-01', to: '2099-12-31', zone: 'UTC' };

describe('§2: spending_request', () => {
  it('returns turns, cost and tokens of the tasks, even after a restart of the daemon', async () => {
    const relay = await home.relay();
    const storeDir = home.folder();
    const daemon = home.daemon(relay, spender, { storeDir });
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).toContain('spending');
    connection.send({ type: 'task_start', task_id: 't1', instruction: '0.5' });
    const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: sessionId ?? '', message: '1.42' });
    await connection.event('TASK_COMPLETE', 't2');
    const figures = { agent_type: 'scripted', turns: 2, cost: { amount: 1.42, currency: 'USD' }, tokens: 200 };
    connection.send({ type: 'spending_request', request_id: 'r1', ...range });
    expect(await connection.frame('spending_response')).toMatchObject({ request_id: 'r1', days: [figures] });
    await daemon.stop();

    home.daemon(relay, spender, { storeDir });
    const again = await relay.connection();
    again.send({ type: 'task_resume', task_id: 't3', session_id: sessionId ?? '', message: '2' });
    await again.event('TASK_COMPLETE', 't3');
    again.send({ type: 'spending_request', request_id: 'r2', ...range });
    const { days } = await again.frame('spending_response');
    expect(days?.map(({ cost }) => cost?.amount).reduce((sum = 0, amount = 0) => sum + amount)).toBe(2);
    again.send({ type: 'spending_request', request_id: 'r3', ...range, zone: 'Mars/Olympus' });
    expect(await again.frame('spending_response')).toMatchObject({ request_id: 'r3', error: expect.any(String) });
  });

  it('is not declared by a daemon whose agent reports no usage', async () => {
    const relay = await home.relay();
    home.daemon(relay, echo());
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).not.toContain('spending');
  });
});
