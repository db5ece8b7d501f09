import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentChoice, readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { runProgram } from './program.ts';
import { registered } from './registered.ts';

const home = house();
afterEach(() => home.clear());

type Relay = Parameters<typeof registered>[1];

interface Finding {
  state: string;
  about: string;
  says: string;
  remedy?: string;
}

/** A home registered at a server that answers GET /health with this time. */
async function place(
  agent: AgentChoice,
  date = new Date(),
  body = '{"status":"ok","version":"1.2.3"}',
  socketStatus = 401,
) {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/health' ? 200 : socketStatus, {
      'Content-Type': 'application/json',
      Date: date.toUTCString(),
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  home.later(() => new Promise((resolve) => server.close(() => resolve())));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = registered(home, { url } as Relay);
  const where = homeOf({ home: folder, env: {} });
  const config = readConfig(where);
  if (config) writeConfig(where, { ...config, agent });
  return folder;
}
async function doctor(folder: string) {
  const { out, code } = await runProgram(['doctor', '--json', '--home', folder]);
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return { code, of: (about: string) => findings.find((finding) => finding.about === about) };
}

describe('relay-daemon doctor', () => {
  it('reports success for everything, including a session that the agent opens', async () => {
    const folder = await place({ kind: 'acp', preset: 'demo', env: { DEMO_AGENT_HOME: home.folder() } });
    const { code, of } = await doctor(folder);
    expect(code).toBe(0);
    expect(of('Relay')).toMatchObject({ state: 'good', says: expect.stringContaining('1.2.3') });
    expect(of('ACP')).toMatchObject({
      state: 'good',
      says: 'demo-agent 1.0.0 answers; can resume, load, list, images',
    });
    expect(of('Session')).toMatchObject({ state: 'good' });
    expect(of('Clock')).toBeUndefined();
  });

  it.each<[string, AgentChoice, string, string]>([
    [
      'a missing agent',
      { kind: 'acp', preset: 'kilo', program: 'no-kilo-here' },
      'Agent',
      'npm install --global @kilocode/cli',
    ],
    [
      'an agent without a login',
      { kind: 'acp', preset: 'demo', env: { DEMO_AGENT_FAULT: 'auth' } },
      'Session',
      'not logged in',
    ],
    [
      'an agent that crashes',
      { kind: 'acp', preset: 'demo', env: { DEMO_AGENT_FAULT: 'exit' } },
      'Session',
      'cannot work like this',
    ],
  ])('reports %s and the remedy', async (_name, agent, about, words) => {
    const env = { DEMO_AGENT_HOME: home.folder(), ...agent.env };
    const { code, of } = await doctor(await place({ ...agent, env }));
    expect(code).toBe(1);
    expect(of(about)).toMatchObject({ state: 'bad' });
    expect(`${of(about)?.says} ${of(about)?.remedy}`).toContain(words);
  });

  it('B7: reports that a proxy drops the request for a WebSocket', async () => {
    const { code, of } = await doctor(await place({ kind: 'scripted' }, new Date(), undefined, 426));
    expect(code).toBe(1);
    expect(of('WebSocket')).toMatchObject({ state: 'bad', says: expect.stringContaining('a proxy in between') });
  });

  it('detects a server that is not a relay', async () => {
    const { code, of } = await doctor(await place({ kind: 'scripted' }, new Date(), '<html>Welcome to nginx</html>'));
    expect(code).toBe(1);
    expect(of('Relay')).toMatchObject({ state: 'bad', says: expect.stringContaining('does not answer like a relay') });
  });

  it('detects a wrong clock, and an unreachable relay', async () => {
    const late = await doctor(await place({ kind: 'scripted' }, new Date(Date.now() + 3_600_000)));
    expect(late.of('Clock')?.says).toContain('60 min behind');
    const { code, of } = await doctor(registered(home, { url: 'http://127.0.0.1:9' } as Relay));
    expect(code).toBe(1);
    expect(of('Relay')).toMatchObject({ state: 'bad', remedy: expect.any(String) });
  });
});

describe('relay-daemon agents', () => {
  it('lists every agent with its installation, and finds agents in the PATH', async () => {
    const { out } = await runProgram(['agents', '--json'], { PATH: '/nowhere' });
    const { agents } = JSON.parse(out) as { agents: { name: string; installed: boolean; install: string }[] };
    expect(agents.map(({ name }) => name)).toContain('opencode');
    expect(agents.every(({ installed }) => !installed)).toBe(true);
    expect((await runProgram(['agents'])).out).toContain('npm install --global opencode-ai@');
  });
});
