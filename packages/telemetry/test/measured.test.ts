import { describe, expect, it } from '@jest/globals';
import { createMetrics } from '../src/index.ts';
import { measured } from '../src/measured.ts';

class Wire {
  #calls = 0;
  readonly name = 'wire';
  async ask(answer: string): Promise<string> {
    this.#calls += 1;
    return Promise.resolve(answer);
  }
  async fail(code?: string): Promise<never> {
    return Promise.reject(Object.assign(new Error('no'), code === undefined ? {} : { code }));
  }
  get calls(): number {
    return this.#calls;
  }
  listen(): number {
    return 7;
  }
}

function start() {
  const metrics = createMetrics({ instance: 'a' });
  const wire = measured(new Wire(), { metrics, name: 'wire_seconds', help: 'Calls', outcomes: ['ask'] });
  const counts = async () =>
    [...(await metrics.text()).matchAll(/^wire_seconds_count\{(.*)\} (\d+)$/gm)]
      .map(([, labels = '', count = '']) => `${labels.replace('instance="a",', '')} ${count}`)
      .sort();
  return { wire, counts };
}

describe('a measured object', () => {
  it('answers as before, private fields and getters included', async () => {
    const { wire } = start();
    expect(await wire.ask('sent')).toBe('sent');
    expect(wire.calls).toBe(1);
    expect(wire.name).toBe('wire');
    expect(wire.listen()).toBe(7);
    expect(Reflect.get(wire, 'ask')).toBe(Reflect.get(wire, 'ask'));
  });

  it('counts by operation and outcome', async () => {
    const { wire, counts } = start();
    await wire.ask('sent');
    await wire.ask('sent');
    await wire.ask('offline');
    expect(await counts()).toEqual(['operation="ask",outcome="offline" 1', 'operation="ask",outcome="sent" 2']);
  });

  it('counts a failure by its code and hands the error on', async () => {
    const { wire, counts } = start();
    await expect(wire.fail('TIMEOUT')).rejects.toThrow('no');
    await expect(wire.fail()).rejects.toThrow('no');
    // Free text must not become a label.
    await expect(wire.fail('anything at all')).rejects.toThrow('no');
    expect(await counts()).toEqual(['operation="fail",outcome="TIMEOUT" 1', 'operation="fail",outcome="error" 2']);
  });

  it('skips synchronous answers', async () => {
    const { wire, counts } = start();
    wire.listen();
    await wire.ask('sent');
    expect(await counts()).toHaveLength(1);
  });
});
