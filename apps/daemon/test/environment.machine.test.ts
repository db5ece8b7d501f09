import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { probeAgent } from '../src/agents/acp/probe.ts';
import { commandAgent } from '../src/index.ts';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const inherited = {
  CLAUDECODE: '1',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  CLAUDE_CODE_SSE_PORT: '4242',
  CODEX_SANDBOX_NETWORK_DISABLED: '1',
  GEMINI_CLI: '1',
  RELAY_DAEMON_KEY: 'rly_key',
  RELAY_CLI_TOKEN: 'rly_token',
};
const settings = { CLAUDE_CODE_OAUTH_TOKEN: 'of the person', CLAUDE_CODE_USE_BEDROCK: '1', ANTHROPIC_API_KEY: 'sk' };

/** Writes its environment into a file and exits. */
function recorder() {
  const file = join(home.folder(), 'environment.json');
  const write = `require('node:fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env))`;
  return {
    start: { program: process.execPath, args: ['-e', write] },
    names: () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : undefined),
  };
}

async function runOnce(agent: Parameters<typeof home.daemon>[1], outcome: 'TASK_COMPLETE' | 'ERROR') {
  const relay = await home.relay();
  home.daemon(relay, agent);
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
  await connection.event(outcome, 't1');
}

describe('B6: the environment of an agent', () => {
  it.each(['acp', 'command', 'doctor'])(
    "has neither the daemon's secrets nor markers of another session, and keeps settings (%s)",
    async (kind) => {
      Object.assign(process.env, inherited, settings);
      const { start, names } = recorder();
      if (kind === 'acp') await runOnce(demoAgent(home, start).agent, 'ERROR');
      if (kind === 'command') {
        await runOnce(commandAgent({ ...start, rules: { defaultPath: home.folder() } }), 'TASK_COMPLETE');
      }
      if (kind === 'doctor') await probeAgent({ ...start, env: {} });
      const seen = names();
      expect(seen).toMatchObject({ ...settings, PATH: process.env.PATH });
      for (const name of Object.keys(inherited)) expect(seen).not.toHaveProperty(name);
    },
  );

  it('contains a marker that the user set for the agent, but no secret', async () => {
    const { start, names } = recorder();
    await probeAgent({ ...start, env: { CLAUDE_CODE_ENTRYPOINT: 'own', RELAY_DAEMON_KEY: 'rly_key' } });
    expect(names()).toMatchObject({ CLAUDE_CODE_ENTRYPOINT: 'own' });
    expect(names()).not.toHaveProperty('RELAY_DAEMON_KEY');
  });
});
