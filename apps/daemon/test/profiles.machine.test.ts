import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '@relay/daemon-kit';
import { writeConfig } from '../src/config.ts';
import { writeCredentials } from '../src/credentials.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { runProgram } from './program.ts';
import { running } from './registered.ts';

const home = house();
afterEach(() => home.clear());

type Relay = Awaited<ReturnType<typeof home.relay>>;

/** A home with these profiles, each at a separate relay and with a separate agent. */
function registeredAs(profiles: Record<string, { relay: Relay; agent: 'demo' | 'broken' }>) {
  const folder = home.folder();
  for (const [profile, { relay, agent }] of Object.entries(profiles)) {
    const place = homeOf({ home: folder, profile, env: {} });
    makePrivateFolder(place.configDir);
    writeConfig(place, {
      server: relay.url,
      device_id: `device-${profile}`,
      hostname: 'my-host',
      name: profile,
      agent_type: 'demo',
      registered_at: '2026-01-01T00:00:00.000Z',
      agent:
        agent === 'demo'
          ? { kind: 'acp', preset: 'demo', env: { DEMO_AGENT_HOME: home.folder() } }
          : { kind: 'acp', program: '/nowhere/agent' },
    });
    writeCredentials(place, `rly_drt_${profile}`);
  }
  return folder;
}

describe('several profiles', () => {
  it('run in one process, each as a separate device; a broken agent affects only its profile', async () => {
    const [one, two] = [await home.relay(), await home.relay()];
    const folder = registeredAs({ good: { relay: one, agent: 'demo' }, bad: { relay: two, agent: 'broken' } });
    const program = running(home, folder);
    const [good, bad] = await Promise.all([one.connection(), two.connection()]);
    expect([good.headers['x-device-id'], bad.headers['x-device-id']]).toEqual(['device-good', 'device-bad']);
    bad.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    expect((await bad.event('ERROR', 't1')).error).toContain('Cannot start');
    good.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    expect((await good.event('TASK_COMPLETE', 't1')).result).toBe('echo 1: hello');

    const { out, code } = await runProgram(['status', '--json', '--home', folder]);
    expect(code).toBe(0);
    const { profiles } = JSON.parse(out) as { profiles: Record<string, unknown>[] };
    expect(profiles).toMatchObject([
      { profile: 'bad', device_id: 'device-bad', pid: program.child.pid },
      { profile: 'good', device_id: 'device-good', connection: { connection: 'connected' } },
    ]);
    expect(out).not.toContain('DEMO_AGENT_HOME');
  });

  it('continue when the relay rejects one of them, and exit with 78 when it has rejected all', async () => {
    const [one, two] = [await home.relay(), await home.relay()];
    const folder = registeredAs({ a: { relay: one, agent: 'demo' }, b: { relay: two, agent: 'demo' } });
    const program = running(home, folder);
    const [first, second] = await Promise.all([one.connection(), two.connection()]);
    first.close(4404);
    await program.says('Profile a: This device was removed from the relay.');
    second.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    await second.event('TASK_COMPLETE', 't1');
    second.close(4401);
    expect(await program.exit).toEqual({ code: 78, signal: null });
  });

  it('exit with another code when the relay rejected all running ones, but one did not start', async () => {
    const relay = await home.relay();
    const folder = registeredAs({ a: { relay, agent: 'demo' }, b: { relay, agent: 'demo' } });
    running(home, folder, '--profile', 'a');
    await relay.connection();
    const program = running(home, folder);
    (await relay.connection()).close(4401);
    expect((await program.exit).code).toBe(75);
  });

  it('are locked separately: a second process on the same profile names the first', async () => {
    const relay = await home.relay();
    const folder = registeredAs({ a: { relay, agent: 'demo' }, b: { relay, agent: 'demo' } });
    const first = running(home, folder, '--profile', 'a');
    await relay.connection();
    const again = await runProgram(['up', '--home', folder, '--profile', 'a']);
    expect(again).toMatchObject({ code: 75, err: expect.stringContaining(`pid ${first.child.pid}`) });
    running(home, folder, '--profile', 'b');
    expect((await relay.connection()).headers['x-device-id']).toBe('device-b');
  });

  it('exit with 75 if each of them runs elsewhere', async () => {
    const relay = await home.relay();
    const folder = registeredAs({ a: { relay, agent: 'demo' }, b: { relay, agent: 'demo' } });
    running(home, folder);
    await Promise.all([relay.connection(), relay.connection()]);
    expect(await runProgram(['up', '--home', folder])).toMatchObject({
      code: 75,
      err: expect.stringContaining('No profile could be started.'),
    });
  });

  it('exit with 78 only if a restart cannot help any of them', async () => {
    const relay = await home.relay();
    const folder = registeredAs({ a: { relay, agent: 'demo' }, b: { relay, agent: 'demo' } });
    const [a, b] = ['a', 'b'].map((profile) => homeOf({ home: folder, profile, env: {} }));
    rmSync(a!.credentialsFile);
    // An unreadable file of its state.
    mkdirSync(join(b!.stateDir, 'tasks.jsonl'), { recursive: true, mode: 0o700 });
    expect((await runProgram(['up', '--home', folder])).code).toBe(1);

    rmSync(b!.credentialsFile);
    expect((await runProgram(['up', '--home', folder])).code).toBe(78);
  });

  it('have names that are safe in a path', async () => {
    const { code, err } = await runProgram(['up', '--home', home.folder(), '--profile', '../x']);
    expect(code).toBe(64);
    expect(err).toContain('--profile');
  });
});
