/** Runs the programs of README.md against a whole relay, and checks their output. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  Browser,
  type FaultProxy,
  type TestDaemon,
  type TestRelay,
  connectDaemon,
  signedInCli,
  startFaultProxy,
  startRelay,
} from '@relay/testing';

const room = resolve(import.meta.dirname, '..');
const readme = readFileSync(join(room, 'README.md'), 'utf8');
const programs = new Map(
  [...readme.matchAll(/```js\n\/\/ (\S+)\.mjs\n([^]*?)```/g)].map(([, name, code]) => [name!, code!]),
);

const running = new Set<ChildProcess>();

/** Starts a program of the page as its own process; `lines` are its output. */
function run(name: string, env: Record<string, string>) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', programs.get(name)!], {
    cwd: room,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let out = '';
  let err = '';
  let wake: () => void = () => undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    wake();
  });
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const exit = new Promise<{ code: number | null; err: string }>((done) =>
    child.once('close', (code) => {
      running.delete(child);
      wake();
      done({ code, err });
    }),
  );
  const lines = () => out.split('\n').slice(0, -1);
  return {
    lines,
    exit,
    /** Resolves once the program has printed this line. */
    async says(line: string): Promise<void> {
      while (!lines().includes(line)) {
        if (!running.has(child)) throw new Error(`it never said ${line}, but: ${out}${err}`);
        await new Promise<void>((done) => (wake = done));
      }
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

describe('the examples of the client', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let proxy: FaultProxy;
  let folder: string;
  let env: Record<string, string>;
  let session: string;

  beforeAll(async () => {
    relay = await startRelay({ identity: true });
    proxy = await startFaultProxy({ port: Number(new URL(relay.url).port) });
    folder = mkdtempSync(join(tmpdir(), 'client-'));
    daemon = await connectDaemon(relay);
    env = { RELAY_URL: relay.url, RELAY_TOKEN: relay.token() };
    session = `${daemon.deviceId}:scripted:one`;
    await report(['one', 'two', 'three']);
  });
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await daemon.close();
    await proxy.close();
    await relay.stop();
  });

  /** Reports get no reply, so this polls the list of the relay until it has the reported sessions. */
  async function report(natives: readonly string[]): Promise<void> {
    const sessions = natives.map((native) => ({ session_id: native, title: `Session ${native}` }));
    daemon.send({ type: 'report_sessions', sessions });
    const known = async () => (await relay.call('GET', '/api/sessions')).body.sessions as unknown[];
    while ((await known()).length < natives.length) await new Promise((done) => setImmediate(done));
  }

  it('are exactly the tested ones', () => {
    expect([...programs.keys()]).toEqual(['sign-in', 'list-sessions', 'follow', 'answer', 'resume']);
  });

  it('sign-in: gets one access token for its refresh token, even for two concurrent calls', async () => {
    const browser = new Browser(relay);
    await browser.signUp('ada@example.com');
    const { refresh_token } = await signedInCli(browser);
    const program = run('sign-in', { RELAY_URL: relay.url, RELAY_REFRESH_TOKEN: refresh_token! });
    expect(await program.exit).toEqual({ code: 0, err: '' });
    expect(program.lines()[0]).toMatch(/^Signed in as ada@example\.com, for .*sessions:read.* Devices: 0\.$/);
  });

  it('list-sessions: prints all of them', async () => {
    const program = run('list-sessions', env);
    expect(await program.exit).toEqual({ code: 0, err: '' });
    expect(program.lines().sort()).toEqual(['Session one: idle', 'Session three: idle', 'Session two: idle']);
  });

  it('follow: prints a turn until it completes', async () => {
    const program = run('follow', { ...env, RELAY_SESSION: session });
    const { task_id: task } = (await daemon.next('task_resume')) as unknown as { task_id: string };
    daemon.event(task, 'PROGRESS', { session_id: 'one', action: 'Running', target: 'npm test' });
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'one', result: 'All green.' });
    expect(await program.exit).toEqual({ code: 0, err: '' });
    expect(program.lines()).toEqual(['USER: Run the tests.', 'AGENT: All green.', 'The task is completed.']);
  });

  it('follow: stops after its own turn, which waits behind a question and is not the newest', async () => {
    const say = async (content: string) => {
      const path = `/api/sessions/${encodeURIComponent(session)}/messages`;
      return (await relay.call('POST', path, { body: { content } })).body.taskId as string;
    };
    const task = async () => ((await daemon.next('task_resume')) as unknown as { task_id: string }).task_id;
    const end = (id: string) => daemon.event(id, 'TASK_COMPLETE', { session_id: 'one', result: 'Done.' });
    await say('Deploy');
    const first = await task();
    const program = run('follow', { ...env, RELAY_SESSION: session });
    await program.says('USER: Run the tests.');
    daemon.event(first, 'WAIT_FOR_USER', { session_id: 'one', prompt: 'Deploy to production?', options: [] });
    while ((await relay.call('GET', `/api/tasks/${first}`)).body.state !== 'waiting');
    await say('Yes');
    end(await task());
    end(await task());
    expect(await program.exit).toEqual({ code: 0, err: '' });
    expect(program.lines().at(-1)).toBe('The task is completed.');
  });

  it('answer: gives the first choice to a waiting session', async () => {
    const sent = await relay.call('POST', `/api/sessions/${encodeURIComponent(session)}/messages`, {
      body: { content: 'Deploy' },
    });
    const { task_id: task } = (await daemon.next('task_resume')) as unknown as { task_id: string };
    daemon.event(task, 'WAIT_FOR_USER', {
      session_id: 'one',
      prompt: 'Deploy to production?',
      options: [{ label: 'Yes' }, { label: 'No' }],
    });
    while ((await relay.call('GET', `/api/tasks/${sent.body.taskId}`)).body.state !== 'waiting');
    const program = run('answer', env);
    const answer = (await daemon.next('task_resume')) as unknown as { task_id: string; message: string };
    expect(answer.message).toBe('Yes');
    expect(await program.exit).toEqual({ code: 0, err: '' });
    expect(program.lines()).toEqual(['Session one: Deploy to production?', 'Answered: Yes']);
    daemon.event(answer.task_id, 'TASK_COMPLETE', { session_id: 'one', result: 'Deployed.' });
  });

  it('resume: misses nothing when the network is cut, and nothing when the program is killed', async () => {
    const own = { ...env, RELAY_URL: `http://127.0.0.1:${proxy.port}`, OFFSET_FILE: join(folder, 'offset') };
    const say = (content: string) =>
      daemon.send({ type: 'event', task_id: '', event_type: 'AGENT_RESPONSE', session_id: 'two', content });
    const offset = () => readFileSync(own.OFFSET_FILE, 'utf8');
    const first = run('resume', own);
    await first.says('Load everything again by REST.');
    say('before the cut');
    await first.says('before the cut');
    proxy.set('refuse');
    await first.says('waiting');
    say('during the cut');
    proxy.set('pass');
    await first.says('during the cut');
    expect(first.lines().slice(-2)).toEqual(['resumed', 'during the cut']);
    // The program stores an offset after it has handled the frame, and frames of other kinds have offsets too.
    const newest = async () => (await relay.apis[0]!.backplane.read(relay.issuer.userId('alice'))).top;
    while (offset() !== (await newest())) await new Promise((done) => setImmediate(done));
    await first.kill();
    say('while it was dead');
    const second = run('resume', own);
    await second.says('while it was dead');
    expect(second.lines()).toEqual(['connecting', 'resumed', 'while it was dead']);
    await second.kill();
  });
});
