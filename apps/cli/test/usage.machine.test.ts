/** `relay usage` and `relay context`: figures of machines and of a session. */
import { describe, expect, it } from '@jest/globals';
import type { TestDaemon } from '@relay/testing';
import { scene } from './scene.ts';

const stage = scene();
const declaring = { 'X-Daemon-Capabilities': 'usage, spending' };

async function answerDays(daemon: TestDaemon, days: (day: string) => readonly object[]): Promise<string> {
  const { request_id: requestId, from, to, zone } = await daemon.next('spending_request');
  daemon.send({
    type: 'spending_response',
    request_id: requestId,
    days: days(String(to)),
    since: '2026-01-02T08:00:00Z',
  });
  return `${String(from)} ${String(to)} ${String(zone)}`;
}

describe('§2: relay usage', () => {
  it('adds up the days of each machine and agent, and names an offline machine', async () => {
    const daemon = await stage.daemon('Laptop', undefined, declaring);
    await stage.daemon('Plain');
    const away = await stage.daemon('Attic', undefined, declaring);
    await away.close();
    const running = stage.own.run(['usage', '--days', '7']);
    const day = { agent_type: 'claude_code', turns: 2, cost: { amount: 1.42, currency: 'USD' }, tokens: 1000 };
    const range = await answerDays(daemon, (to) => [
      { ...day, day: to },
      { ...day, day: to, turns: 1 },
      { agent_type: 'codex', day: to, turns: 4 },
    ]);
    expect(range).toMatch(/^\d{4}-\d{2}-\d{2} \d{4}-\d{2}-\d{2} \S+$/);
    const { code, out } = await running;
    expect(code).toBe(0);
    expect(out.replaceAll(/ +/g, ' ').split('\n')).toEqual([
      'MACHINE AGENT TURNS COST TOKENS',
      'Laptop claude_code 3 $2.84 2,000',
      'Laptop codex 4 – –',
      'Attic is offline; its figures are missing.',
      '',
    ]);
  });

  it('shows context, cost and limits of a session, also as `relay context`', async () => {
    const daemon = await stage.daemon('Laptop', undefined, declaring);
    const session = await stage.session(daemon, 'native-1');
    for (const command of ['usage', 'context']) {
      const running = stage.own.run([command, session]);
      const { request_id: requestId } = await daemon.next('usage_request');
      const limit = { id: 'five_hour', name: '5 hours', used: 0.72, as_of: '2026-03-14T09:15:00Z' };
      const usage = {
        used_tokens: 68_400,
        max_tokens: 200_000,
        cost: { amount: 1.42, currency: 'USD' },
        limits: [limit],
      };
      daemon.send({ type: 'usage_response', request_id: requestId, session_id: 'native-1', usage });
      const { out } = await running;
      expect(out.replaceAll(/ +/g, ' ')).toBe(
        'Context: 68,400 of 200,000 tokens (34%)\nCost: about $1.42\n5 hours: 72%\n',
      );
    }
  });

  it('refuses too many days, and days of a session', async () => {
    expect((await stage.own.run(['usage', '--days', '93'])).code).toBe(2);
    expect((await stage.own.run(['usage', 'k3j', '--days', '3'])).code).toBe(2);
  });
});
