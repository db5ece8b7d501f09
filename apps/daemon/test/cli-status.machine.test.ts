import { afterEach, describe, expect, it } from '@jest/globals';
import { house } from './house.ts';
import { runProgram } from './program.ts';
import { registered, running, token } from './registered.ts';

const home = house();
afterEach(() => home.clear());

describe('relay-daemon status', () => {
  it('shows registration, process and connection', async () => {
    const relay = await home.relay();
    const folder = registered(home, relay);
    expect(await runProgram(['status', '--home', folder])).toMatchObject({
      code: 3,
      out: expect.stringContaining('not running'),
    });
    const program = running(home, folder, '--agent', 'scripted');
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hang' });
    await connection.status('t1');
    await connection.event('PROGRESS', 't1');
    const shown = await runProgram(['status', '--json', '--home', folder]);
    expect(shown.code).toBe(0);
    expect(JSON.parse(shown.out)).toMatchObject({
      registered: true,
      running: true,
      pid: program.child.pid,
      device_id: 'device-1',
      server: relay.url,
      connection: { connection: 'connected', current: true, runningTasks: ['t1'] },
    });
    expect(shown.out).not.toContain(token);
    const words = await runProgram(['status', '--home', folder]);
    expect(words.out).toContain(`pid ${program.child.pid}`);
    expect(words.out).toContain('connected since');
  });

  it('exits with 78 if this machine is not registered', async () => {
    const result = await runProgram(['status', '--home', home.folder()]);
    expect(result.code).toBe(78);
    expect(result.out).toContain('relay-daemon register');
  });
});
