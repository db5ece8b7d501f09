import { describe, expect, it } from '@jest/globals';
import type { AgentProcess } from '../src/agents/acp/process.ts';
import { createSettings } from '../src/agents/acp/settings.ts';

const option = (id: string, ...values: string[]) => ({
  type: 'select',
  id,
  currentValue: values[0],
  options: values.map((value) => ({ value, name: value })),
});

describe('A14: an agent that has modes beside its config options', () => {
  it('changes both, and keeps its mode when it reports its options', async () => {
    const settings = createSettings(1000);
    const calls: string[] = [];
    const agent = {
      request: (method: string) => {
        calls.push(method);
        return Promise.resolve({ configOptions: [option('effort', 'high', 'low')] });
      },
    } as unknown as AgentProcess;
    const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] };
    settings.opened('s', { modes, configOptions: [option('effort', 'low', 'high')] });
    await settings.change(agent, 's', { id: 'mode', value: 'code' });
    await settings.change(agent, 's', { id: 'effort', value: 'high' });
    expect(calls).toEqual(['session/set_mode', 'session/set_config_option']);
    expect(settings.of('s')?.map(({ id, value }) => [id, value])).toEqual([
      ['effort', 'high'],
      ['mode', 'code'],
    ]);
  });
});
