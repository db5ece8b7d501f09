import { afterEach, describe, expect, it } from '@jest/globals';
import type { Agent, TurnReport } from '../src/index.ts';
import { house, playing } from './house.ts';

const home = house();
afterEach(() => home.clear());

/** An agent whose turns the test completes. */
function held(): { agent: Agent; turn: (index: number) => Promise<TurnReport> } {
  const reports: TurnReport[] = [];
  const wakes: (() => void)[] = [];
  return {
    agent: {
      start(_turn, report) {
        let end = (): void => undefined;
        const ended = new Promise<void>((resolve) => (end = resolve));
        reports.push({
          ...report,
          complete: (result) => (report.complete(result), end()),
          error: (error) => (report.error(error), end()),
        });
        for (const wake of wakes.splice(0)) wake();
        return { ended, cancel: () => (end(), Promise.resolve()) };
      },
    },
    async turn(index) {
      for (;;) {
        const report = reports[index];
        if (report) return report;
        await new Promise<void>((resolve) => wakes.push(resolve));
      }
    },
  };
}

const refuseFor = (relay: { refusals: { status: number }[] }, times: number) => {
  for (let index = 0; index < times; index++) relay.refusals.push({ status: 503 });
};

describe('an unsent result of a task', () => {
  it('is sent after the reconnect, right before the first status', async () => {
    const relay = await home.relay();
    const { agent, turn } = held();
    home.daemon(relay, agent);
    const first = await relay.connection();
    first.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    first.send({ type: 'task_start', task_id: 't2', instruction: 'x' });
    first.send({ type: 'task_start', task_id: 't3', instruction: 'x' });
    const turns = await Promise.all([0, 1, 2].map(turn));
    refuseFor(relay, 3);
    first.terminate();
    await first.closed;
    turns[1]?.complete('finished meanwhile');
    turns[0]?.error('broke meanwhile');
    const second = await relay.connection();
    await second.settle();
    expect(second.words().slice(-4)).toEqual(['TASK_COMPLETE t2', 'ERROR t1', 'status[t3]', 'report_sessions']);
    expect(second.ends('t2')).toMatchObject([{ result: 'finished meanwhile', session_id: expect.any(String) }]);
  });

  it('is not sent again once the relay has received it', async () => {
    const relay = await home.relay();
    const { agent, turn } = held();
    home.daemon(relay, agent);
    const first = await relay.connection();
    first.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    const report = await turn(0);
    first.terminate();
    await first.closed;
    report.complete('late');
    const second = await relay.connection();
    await second.event('TASK_COMPLETE', 't1');
    await second.settle();
    second.terminate();
    const third = await relay.connection();
    await third.settle();
    expect(third.words()).toEqual(['status[]', 'report_sessions']);
  });

  it('is sent again if it went into a dead socket', async () => {
    const relay = await home.relay();
    const { agent, turn } = held();
    home.daemon(relay, agent);
    const first = await relay.connection();
    first.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    const report = await turn(0);
    first.freeze();
    report.complete('into the void');
    first.terminate();
    const second = await relay.connection();
    await second.settle();
    expect(second.words()).toEqual(['TASK_COMPLETE t1', 'status[]', 'report_sessions']);
  });

  it('survives the daemon: the next daemon on the same folder sends it', async () => {
    const relay = await home.relay();
    const storeDir = home.folder();
    const { agent, turn } = held();
    const daemon = home.daemon(relay, agent, { storeDir });
    const first = await relay.connection();
    first.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    const report = await turn(0);
    refuseFor(relay, 1000);
    first.terminate();
    await first.closed;
    report.complete('for the next one');
    await daemon.stop();
    // Uses another relay, because the last attempt of the stopped daemon can still arrive at the first one.
    const next = await home.relay();
    home.daemon(next, playing([{ type: 'hang' }]), { storeDir });
    const second = await next.connection();
    await second.settle();
    expect(second.words()).toEqual(['TASK_COMPLETE t1', 'status[]', 'report_sessions']);
  });

  it('is ERROR for a running task if the daemon is stopped during an outage', async () => {
    const relay = await home.relay();
    const storeDir = home.folder();
    const { agent, turn } = held();
    const daemon = home.daemon(relay, agent, { storeDir });
    const first = await relay.connection();
    first.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    await turn(0);
    refuseFor(relay, 1000);
    first.terminate();
    await first.closed;
    await daemon.stop();
    const next = await home.relay();
    home.daemon(next, agent, { storeDir });
    const second = await next.connection();
    await second.settle();
    expect(second.ends('t1')).toMatchObject([{ event_type: 'ERROR', error: 'The daemon was stopped.' }]);
  });
});
