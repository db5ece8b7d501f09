import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { presetOf } from '../src/agents/acp/presets.ts';
import { choiceOf, launchOf } from '../src/agents/choice.ts';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

interface Offer {
  id: string;
  name?: string;
  type?: string;
  vars?: { name: string }[];
}

/**
 * Starts one task with an agent that offers these methods. Returns its outcome and the authentication methods it tried.
 */
async function run<Outcome extends 'TASK_COMPLETE' | 'ERROR'>(
  offers: Offer[],
  outcome: Outcome,
  { authMethod, env = {} }: { authMethod?: string; env?: Record<string, string> } = {},
) {
  const calls = join(home.folder(), 'calls');
  const logins = JSON.stringify(offers.map((offer) => ({ name: offer.id, ...offer })));
  const { agent } = demoAgent(home, {
    authMethod,
    env: { DEMO_AGENT_CALLS: calls, DEMO_AGENT_LOGINS: logins, ...env },
  });
  const relay = await home.relay();
  home.daemon(relay, agent);
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
  const frame = await connection.event(outcome, 't1');
  const lines = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n') : [];
  return { frame, tried: lines.filter((line) => line.startsWith('authenticate')).map((line) => line.slice(13)) };
}

describe('A1: an agent that requires `authenticate` before its first session', () => {
  it.each<[string, Offer[], string[]]>([
    ['the method of a preset', [{ id: 'browser' }, { id: 'cursor_login' }], ['cursor_login']],
    ['a saved login', [{ id: 'oauth' }, { id: 'cached_login' }], ['cached_login']],
    ['the next one after a refused one', [{ id: 'bad_cached' }, { id: 'saved' }], ['bad_cached', 'saved']],
    ['a key in the environment, by its id', [{ id: 'other-api-key' }, { id: 'demo-api-key' }], ['demo-api-key']],
    [
      'a key in the environment, by its variable',
      [
        { id: 'one', type: 'env_var', vars: [{ name: 'NO_SUCH_KEY' }] },
        { id: 'two', type: 'env_var', vars: [{ name: 'DEMO_API_KEY' }] },
      ],
      ['two'],
    ],
  ])('logs in with %s', async (_name, offers, expected) => {
    const { frame, tried } = await run(offers, 'TASK_COMPLETE', { env: { DEMO_API_KEY: 'key' } });
    expect(frame).toMatchObject({ result: 'echo 1: hello' });
    expect(tried).toEqual(expected);
  });

  it('logs in only with the method that the user named', async () => {
    const { tried } = await run([{ id: 'cached' }, { id: 'by_hand' }], 'TASK_COMPLETE', { authMethod: 'by_hand' });
    expect(tried).toEqual(['by_hand']);
  });

  it('gets no call of a method that needs a person; the error lists the methods', async () => {
    const offers = [
      { id: 'oauth', name: 'Open the browser' },
      { id: 'cached_in_terminal', type: 'terminal' },
    ];
    const { frame, tried } = await run(offers, 'ERROR');
    expect(tried).toEqual([]);
    expect(frame.error).toContain('oauth (Open the browser), cached_in_terminal');
    expect(frame.error).toContain('--auth-method');
  });

  it('fails with its own reason if it refuses its method, after one attempt', async () => {
    const { frame, tried } = await run([{ id: 'bad_cached' }], 'ERROR');
    expect(tried).toEqual(['bad_cached']);
    expect(frame.error).toContain('The agent is not logged in.');
  });

  it('can be Cursor or Grok Build by name, with the method of the command line', () => {
    expect(presetOf('cursor')).toMatchObject({ command: 'cursor-agent', args: ['acp'], logins: ['cursor_login'] });
    expect(presetOf('grok')).toMatchObject({ command: 'grok', args: ['agent', 'stdio'] });
    const choice = choiceOf([], { agent: 'grok', authMethod: 'xai.api_key' });
    expect(choice).toEqual({ kind: 'acp', preset: 'grok', authMethod: 'xai.api_key' });
    expect(launchOf(choice!)).toMatchObject({ authMethod: 'xai.api_key' });
  });
});
