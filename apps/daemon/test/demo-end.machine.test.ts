/** The demonstration agent after its daemon was killed without closing the protocol. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import { demoAgentFile } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
const left: (() => void)[] = [];
afterEach(() => {
  for (const kill of left.splice(0)) kill();
  return home.clear();
});

describe('the demonstration agent', () => {
  it.each(['mute', 'work', 'hang'])(
    'exits when its daemon is gone, also during its endless turn "%s"',
    async (word) => {
      const env = { PATH: process.env.PATH, DEMO_AGENT_HOME: home.folder() };
      const child = spawn(process.execPath, [demoAgentFile], { env, stdio: ['pipe', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      left.push(() => child.kill('SIGKILL'));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      let id = 0;
      const ask = async (method: string, params: object) => {
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params })}\n`);
        return (JSON.parse((await lines.next()).value as string) as { result: { sessionId: string } }).result;
      };
      await ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await ask('session/new', { cwd: home.folder(), mcpServers: [] });
      const prompt = (text: string) => ({ sessionId, prompt: [{ type: 'text', text }] });
      const line = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 9, method, params });
      // The answer to the second request shows that the turn has started.
      child.stdin.write(`${line('session/prompt', prompt(word))}\n`);
      await ask('session/list', {});
      child.stdin.end();
      expect(await ended).toEqual([0, null]);
    },
    30_000,
  );
});
