import { describe, expect, it } from '@jest/globals';
import type { AgentProcess } from '../src/agents/acp/process.ts';
import { commandAboutAsking } from '../src/agents/acp/danger.ts';
import { presetOf } from '../src/agents/acp/presets.ts';
import { createSettings } from '../src/agents/acp/settings.ts';

const option = (id: string, ...values: string[]) => ({
  type: 'select',
  id,
  currentValue: values[0],
  options: values.map((value) => ({ value, name: value })),
});

const choices = (id: string, category: string | undefined, ...options: [value: string, name: string][]) => ({
  type: 'select',
  id,
  ...(category === undefined ? {} : { category }),
  currentValue: options[0]![0],
  options: options.map(([value, name]) => ({ value, name })),
});

const offers = {
  configOptions: [
    choices(
      'mode',
      'mode',
      ...(['default', 'bypassPermissions', 'agent-full-access', 'yolo', 'x#autopilot'] as const).map(
        (value): [string, string] => [value, value],
      ),
      ['odd', 'Never ask me'],
    ),
    choices('allow_all', undefined, ['off', 'Off'], ['on', 'On']),
    choices('model', 'model', ['large', 'Large'], ['yolo-7b', 'YOLO 7B']),
  ],
};

describe('1.6: a machine that allows no mode without questions', () => {
  const recording = () => {
    const sent: unknown[] = [];
    const request = (_method: string, params: unknown) => {
      sent.push(params);
      return Promise.resolve({});
    };
    return { sent, agent: { request } as unknown as AgentProcess };
  };
  const quirks = { doesNotAsk: /#autopilot$/ };

  it('marks modes that never ask, and no model', () => {
    const settings = createSettings(1000, { quirks });
    settings.opened('s', offers);
    const marked = settings
      .of('s')
      ?.flatMap(({ id, options }) =>
        options.flatMap((option) => (option.danger === true ? [`${id}=${option.id}`] : [])),
      );
    expect(marked).toEqual([
      'mode=bypassPermissions',
      'mode=agent-full-access',
      'mode=yolo',
      'mode=x#autopilot',
      'mode=odd',
      'allow_all=on',
    ]);
  });

  it('sends the agent no dangerous option, in any spelling', async () => {
    for (const machine of [{ noFullAccess: true }, { askAtDesk: () => Promise.resolve(undefined) }]) {
      const settings = createSettings(1000, { ...machine, quirks });
      settings.opened('s', offers);
      settings.observe('s', { sessionUpdate: 'config_option_update', ...offers });
      const { sent, agent } = recording();
      const ids = ['mode', 'MODE', 'modes', 'allow_all', 'model', '__proto__', 'constructor', ''];
      const values = [
        'bypassPermissions',
        'agent-full-access',
        'yolo',
        'x#autopilot',
        'odd',
        'on',
        'ON',
        'YOLO',
        ' yolo',
      ];
      let refused = 0;
      for (const id of ids)
        for (const value of values) await settings.change(agent, 's', { id, value }).catch(() => (refused += 1));
      expect([sent, refused]).toEqual([[], ids.length * values.length]);
      // Other choices still work.
      await settings.change(agent, 's', { id: 'model', value: 'yolo-7b' });
      expect(sent).toHaveLength(1);
    }
  });

  it('keeps its settings when the agent reports an empty list of options', () => {
    const settings = createSettings(1000);
    settings.opened('s', offers);
    settings.observe('s', { sessionUpdate: 'config_option_update', configOptions: [] });
    expect(settings.of('s')).toHaveLength(3);
  });
});

it('1.1: a setting states when a change during a turn takes effect, by its category', () => {
  // Recorded: Claude Code 2.1.316 takes a mode and a model at once, an effort from the next message.
  const settings = createSettings(1000, { quirks: presetOf('claude_code')!.quirks! });
  const level = choices('effort', 'thought_level', ['low', 'Low'], ['high', 'High']);
  settings.opened('s', { configOptions: [...offers.configOptions, level] });
  expect(settings.of('s')?.map(({ id, applies }) => [id, applies])).toEqual([
    ['mode', 'now'],
    ['allow_all', undefined],
    ['model', 'now'],
    ['effort', 'next'],
  ]);
});

describe('A14: an agent with modes beside its config options', () => {
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

describe('S1: a command that can change when the agent asks', () => {
  const described = (name: string) => (name === 'careless' ? 'Toggle YOLO mode (approves every action)' : '');

  it.each([
    ...['/yolo', '/auto', '/allow-all', '/always_allow', '/mode plan', '/trust', '/sandbox off', '/autoApprove on'],
    ...['/careless', '/set mode full-access', '/settings approval off', '  /permissions', '/tools:permissions'],
  ])('has such a name, argument or description: %s', (message) =>
    expect(commandAboutAsking(message, described)).toBe(/\/(\S+)/.exec(message)![1]),
  );

  it.each([
    ...['/review the bypass of the yolo mode', '/compact', '/init', '/model large', '/automate', '/auto-commit'],
    ...['run /yolo', 'yolo', '/usr/bin/mode is missing', '/ mode', '/set theme dark', '/commit allow all origins'],
  ])('is not: %s', (message) => expect(commandAboutAsking(message, described)).toBeUndefined());
});
