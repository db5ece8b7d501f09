import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesOf } from '../src/agents/choice.ts';
import { readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { runProgram } from './program.ts';
import { registered, running, token } from './registered.ts';

const home = house();
afterEach(() => home.clear());

const code = {
  status: 200,
  body: {
    device_code: 'dc',
    user_code: 'BCDF-GHJK',
    verification_uri_complete: 'http://relay/device?user_code=BCDF-GHJK',
    expires_in: 900,
    interval: 0,
  },
};
const pending = { status: 400, body: { error: 'authorization_pending', code: 'AUTHORIZATION_PENDING', status: 400 } };

describe('relay-daemon register', () => {
  it('shows link and code, waits, and stores config and credentials, with the secret readable only by its owner', async () => {
    const relay = await home.relay();
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [
      pending,
      pending,
      { status: 200, body: { device_id: 'd1', refresh_token: token } },
    ]);
    const folder = join(home.folder(), 'new');
    const args = [
      'register',
      '--server',
      `${relay.url}/`,
      '--home',
      folder,
      '--agent-type',
      'claude_code',
      '--name',
      'Laptop',
      '--hostname',
      'my-host',
    ];
    const { code: exitCode, out, err } = await runProgram(args);
    expect(exitCode).toBe(0);
    expect(out).toContain('http://relay/device?user_code=BCDF-GHJK');
    expect(out).toContain('BCDF-GHJK');
    expect(err).toContain('Waiting for confirmation');
    expect(out + err).not.toContain(token);
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))).toMatchObject({
      server: relay.url,
      device_id: 'd1',
      hostname: 'my-host',
      name: 'Laptop',
      agent_type: 'claude_code',
    });
    expect(JSON.parse(readFileSync(join(folder, 'credentials.json'), 'utf8'))).toEqual({ refresh_token: token });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'credentials.json')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).not.toContain(token);
  });

  it('keeps the agent, its folders and its profile, and draws the link on request', async () => {
    const relay = await home.relay();
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [{ status: 200, body: { device_id: 'd1', refresh_token: token } }]);
    const folder = home.folder();
    const agent = ['--agent', 'claude', '--mode', 'plan', '--allow', '/a', '--allow', '/b', '--project', '/a/p'];
    const args = ['register', '--server', relay.url, '--home', folder, '--profile', 'work', '--qr', ...agent];
    const { code: exitCode, out } = await runProgram(args);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/[▀▄█]{10}/);
    expect(relay.calls[0]?.body).toMatchObject({ agent_type: 'claude_code' });
    expect(JSON.parse(readFileSync(join(folder, 'profiles', 'work', 'config.json'), 'utf8'))).toMatchObject({
      agent_type: 'claude_code',
      agent: { kind: 'acp', preset: 'claude_code', mode: 'plan' },
      allow: ['/a', '/b'],
      project: '/a/p',
    });
  });

  it('S18: allows only the folder of the registration, from any start folder', async () => {
    const relay = await home.relay();
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [{ status: 200, body: { device_id: 'd1', refresh_token: token } }]);
    const folder = home.folder();
    const args = ['register', '--server', relay.url, '--home', folder, '--max-agents', '3', '--ask-at-desk'];
    const { out } = await runProgram(args);
    expect(out).toContain(`Agents may work in ${process.cwd()}; --allow names other folders.`);
    const config = readConfig(homeOf({ home: folder, env: {} }))!;
    expect(config).toMatchObject({ allow: [process.cwd()], project: process.cwd(), max_agents: 3, ask_at_desk: true });
    expect(rulesOf(config, {}, { roots: [] }).allowed).toEqual([process.cwd()]);
    expect(await runProgram([...args, '--force', '--max-agents', '0'])).toMatchObject({
      code: 64,
      err: '--max-agents must be a number from 1 to 500.\n',
    });
  });

  it('keeps the visibility options for every start without an option', async () => {
    const relay = await home.relay();
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [{ status: 200, body: { device_id: 'd1', refresh_token: token } }]);
    const folder = home.folder();
    const args = ['register', '--server', relay.url, '--home', folder, '--agent', 'scripted'];
    await runProgram([...args, '--transcript', 'off', '--thoughts', 'off']);
    const place = homeOf({ home: folder, env: {} });
    expect(readConfig(place)).toMatchObject({ transcript: 'off', thoughts: 'off' });
    const declared = async (...more: string[]) => {
      const program = running(home, folder, ...more);
      const { headers } = await relay.connection();
      program.child.kill('SIGKILL');
      await program.exit;
      return String(headers['x-daemon-capabilities']).split(', ');
    };
    expect(await declared()).not.toContain('transcript');
    expect(await declared('--transcript', 'full')).toContain('transcript');
    expect(await runProgram([...args, '--force', '--transcript', 'some'])).toMatchObject({
      code: 64,
      err: '--transcript must be full, outline or off.\n',
    });
    writeConfig(place, { ...readConfig(place)!, transcript: 'some' as 'off' });
    expect(() => readConfig(place)).toThrow('"transcript" must be full, outline or off');
  });

  it('with --agent auto names the agent that it found, or the demonstration', async () => {
    const relay = await home.relay();
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [{ status: 200, body: { device_id: 'd1', refresh_token: token } }]);
    const folder = home.folder();
    const args = ['register', '--server', relay.url, '--home', folder, '--agent', 'auto'];
    const { out } = await runProgram(args, { PATH: '/nowhere' });
    expect(out).toContain('Agent: the demonstration, because no known agent is installed here');
    expect(relay.calls[0]?.body).toMatchObject({ agent_type: 'demo' });
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))).toMatchObject({
      agent: { kind: 'acp', preset: 'demo' },
    });
  });

  it('prints JSON lines with --json', async () => {
    const relay = await home.relay();
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [{ status: 200, body: { device_id: 'd1', refresh_token: token } }]);
    const { out, err } = await runProgram(['register', '--json', '--server', relay.url], {
      RELAY_DAEMON_HOME: home.folder(),
    });
    const [first, second] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toMatchObject({ event: 'code', user_code: 'BCDF-GHJK' });
    expect(second).toMatchObject({ event: 'registered', device_id: 'd1' });
    expect(err).toBe('');
  });

  it.each([
    ['expired_token', 77],
    ['access_denied', 77],
    ['invalid_grant', 77],
  ])('fails with %s clearly and stores nothing', async (error, exitCode) => {
    const relay = await home.relay();
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [pending, { status: 400, body: { error } }]);
    const folder = home.folder();
    const result = await runProgram(['register', '--server', relay.url, '--home', folder]);
    expect(result.code).toBe(exitCode);
    expect(result.err).toMatch(/\.\n$/);
    expect(existsSync(join(folder, 'config.json'))).toBe(false);
    expect(existsSync(join(folder, 'credentials.json'))).toBe(false);
  });

  it('S14: refuses http to another machine at register and at up, unless --insecure allows it', async () => {
    const server = 'http://relay.invalid:4000';
    const folder = home.folder();
    const sentence = /^http:\/\/relay\.invalid:4000 is not encrypted: .*https:\/\/.*--insecure\.\n$/;
    const refused = await runProgram(['register', '--server', server, '--home', folder]);
    expect(refused).toMatchObject({ code: 64, out: '', err: expect.stringMatching(sentence) });
    const meant = await runProgram(['register', '--insecure', '--server', server, '--home', folder]);
    expect(meant).toMatchObject({ code: 69, err: expect.stringContaining('Cannot reach') });

    const relay = await home.relay();
    const old = registered(home, relay);
    const file = join(old, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, server }));
    expect(await runProgram(['up', '--home', old])).toMatchObject({ code: 78, err: expect.stringMatching(sentence) });
    // The consent of the registration still holds: a broken credential is the next problem.
    writeFileSync(file, JSON.stringify({ ...config, server, insecure: true }));
    rmSync(join(old, 'credentials.json'));
    expect((await runProgram(['up', '--home', old])).err).toContain('credentials.json does not exist');
  });

  it('registers with a key, from an option or the environment, without asking a person', async () => {
    const relay = await home.relay();
    const approved = { status: 200, body: { ...code.body, interval: 3600, approved: true } };
    const granted = { status: 200, body: { device_id: 'd1', refresh_token: token } };
    relay.answers.set('POST /api/devices/code', [approved, approved]);
    relay.answers.set('POST /api/devices/token', [granted, granted]);
    const args = ['register', '--server', relay.url];
    // With an hour between polls: the first poll is immediate.
    const given = await runProgram([...args, '--home', home.folder(), '--key', 'rly_key_given']);
    expect(given).toMatchObject({ code: 0, out: expect.stringContaining('Registered as device d1') });
    expect(given.out + given.err).not.toMatch(/Open this link|Waiting|rly_key_/);
    const env = { RELAY_DAEMON_KEY: 'rly_key_kept' };
    expect((await runProgram([...args, '--home', home.folder()], env)).code).toBe(0);
    const keys = relay.calls.filter(({ path }) => path === '/api/devices/code').map(({ body }) => body);
    expect(keys).toMatchObject([{ key: 'rly_key_given' }, { key: 'rly_key_kept' }]);
  });

  it('reports an invalid key, and does not wait', async () => {
    const relay = await home.relay();
    const body = { error: 'no', code: 'KEY_NOT_VALID', status: 403 };
    relay.answers.set('POST /api/devices/code', [{ status: 403, body }]);
    const args = ['register', '--server', relay.url, '--home', home.folder(), '--key', 'rly_key_old'];
    expect(await runProgram(args)).toMatchObject({ code: 77, err: expect.stringContaining('relay devices invite') });
  });

  it('refuses to overwrite a registration without --force, and sends the relay no request', async () => {
    const relay = await home.relay();
    const folder = registered(home, relay);
    const refused = await runProgram(['register', '--server', relay.url, '--home', folder]);
    expect(refused.code).toBe(73);
    expect(refused.err).toContain('--force');
    expect(relay.calls).toEqual([]);
    relay.answers.set('POST /api/devices/code', [code]);
    relay.answers.set('POST /api/devices/token', [{ status: 200, body: { device_id: 'd2', refresh_token: 'new' } }]);
    expect((await runProgram(['register', '--force', '--server', relay.url, '--home', folder])).code).toBe(0);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toContain('"d2"');
  });
});
