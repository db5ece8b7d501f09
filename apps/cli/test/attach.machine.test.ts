/** `relay attach` in a terminal: it shows events, sends typed messages, and stops nothing when it exits. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestDaemon } from '@relay/testing';
import { scene } from './scene.ts';

const stage = scene();
const bundle = fileURLToPath(new URL('../dist/bundle.js', import.meta.url));
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Starts the program in a terminal of this size. */
function attached(words: string, size = { rows: 24, columns: 80 }) {
  const command = `tty; stty rows ${size.rows} cols ${size.columns}; exec ${process.execPath} ${bundle} attach ${words}`;
  const env = { ...process.env, RELAY_CLI_CONFIG_DIR: stage.own.folder, TERM: 'xterm-256color' };
  const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: 'pipe' });
  running.push(child);
  let output = '';
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString('utf8')));
  const exit = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    type: (text: string) => child.stdin.write(text),
    output: () => output,
    exit,
    /** As the window of a terminal does it: the kernel reports the new size to the program. */
    async resize({ rows, columns }: typeof size): Promise<void> {
      const [terminal] = /\/dev\/pts\/\d+/.exec(output)!;
      const words = ['-F', terminal, 'rows', String(rows), 'cols', String(columns)];
      await new Promise((resolve) => spawn('stty', words, { stdio: 'ignore' }).once('close', resolve));
    },
    /** Waits for text in later output. */
    async sees(words: string | RegExp, from = 0): Promise<void> {
      const plain = () => output.slice(from).replace(/\u001b\[[\d;?]*[A-Za-z]/g, '');
      const isThere = () => (typeof words === 'string' ? plain().includes(words) : words.test(plain()));
      while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 10));
    },
  };
}
const able = { 'X-Daemon-Capabilities': 'desk, transcript, prompts' };
/** Answers the first history request with an empty page. */
async function empty(daemon: TestDaemon) {
  const { request_id: requestId, session_id: sessionId } = await daemon.next('get_messages');
  const about = { type: 'messages', request_id: requestId, session_id: sessionId };
  daemon.send({ ...about, messages: [], has_more: false, oldest_uuid: null, newest_uuid: null, v: 0 });
}
const put = (uuid: string, seq: number, role: string, content: string) => ({
  op: 'put',
  item: {
    uuid,
    seq,
    role,
    content,
    timestamp: new Date().toISOString(),
    part: { kind: role === 'USER' ? 'user' : 'text' },
  },
});

describe('relay attach', () => {
  it('44: needs a terminal', async () => {
    expect(await stage.own.run(['attach', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('relay attach needs a terminal. Use relay tail.'),
    });
  });

  it.each([
    { rows: 24, columns: 80 },
    { rows: 60, columns: 200 },
  ])('44: shows a turn, sends a message, and leaves with Ctrl-D ($columns columns)', async (size) => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'live-one', 'Rate limit');
    const window = attached('live-one', size);
    await empty(daemon);
    await window.sees('Rate limit · scripted');
    await window.sees('Enter sends');
    window.type('And the tests\r');
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: 'And the tests' });
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'PROGRESS', { action: 'Running', target: 'npm test' });
    await window.sees('Working: Running npm test');
    daemon.transcript(taskId, 'live-one', [put('a1', 9, 'AGENT', 'All 41 pass.')]);
    await window.sees('All 41 pass.');
    window.type('\u0003');
    await window.sees('Ctrl-C again stops the agent');
    window.type('\u0003');
    expect(await daemon.next('task_cancel')).toMatchObject({ task_id: taskId });
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });

  it('44: answers a question by its number, and confirms a lasting choice', async () => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'asking-one');
    const window = attached('asking-one');
    await empty(daemon);
    await window.sees('Enter sends');
    window.type('go\r');
    const { task_id: taskId } = (await daemon.next('task_resume')) as unknown as { task_id: string };
    const options = [
      { id: 'once', label: 'Allow once', kind: 'allow_once' },
      { id: 'always', label: 'Always allow', kind: 'allow_always' },
    ];
    const question = { uuid: 'q1', title: 'Run the migration?', kind: 'permission', options, text: true, subject: { type: 'command', command: 'npm run db:migrate' } }; // prettier-ignore
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Run the migration?', options, question });
    await window.sees('Run the migration?');
    await window.sees('npm run db:migrate');
    await window.sees('1 Allow once   2 Always allow');
    window.type('2');
    await window.sees('Type yes to allow:');
    window.type('yes\r');
    const answer = await daemon.next('task_resume');
    expect(answer).toMatchObject({ prompt_uuid: 'q1', option_id: 'always' });
    expect(answer.answered_on).toMatch(/^in a terminal on /);
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });

  it('44: asks about a terminal that has the session open, and closes it with /take', async () => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'held-two');
    const at = new Date().toISOString();
    const held = { state: 'idle', program: 'Claude Code', terminal: 'pts/3', since: at, at, sure: true, ends: true };
    daemon.send({ type: 'session_held', session_id: 'held-two', held });
    const window = attached('held-two');
    await empty(daemon);
    await window.sees('Open at the desk: Claude Code in pts/3');
    window.type('go on\r');
    await window.sees('1 Close it there and send');
    window.type('2');
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'go on', desk: 'wait' });
    window.type('/take\r');
    const { request_id: requestId } = await daemon.next('force_quit_session');
    daemon.send({ type: 'force_quit_result', request_id: requestId, session_id: 'held-two', status: 'released' });
    await window.sees('released');
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });

  it('44: shows the message and the answer of another window', async () => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'shared-one');
    // One after the other: two requests for the same page in flight share one frame.
    const first = attached('shared-one');
    await empty(daemon);
    await first.sees('Enter sends');
    const second = attached('shared-one', { rows: 30, columns: 60 });
    await empty(daemon);
    await second.sees('Enter sends');
    first.type('hello there\r');
    await second.sees('hello there');
    const { task_id: taskId } = (await daemon.next('task_resume')) as unknown as { task_id: string };
    const options = [{ id: 'once', label: 'Allow once', kind: 'allow_once' }];
    const question = { uuid: 'q2', title: 'Run the tests?', kind: 'permission', options };
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Run the tests?', options, question });
    await Promise.all([first.sees('1 Allow once'), second.sees('1 Allow once')]);
    const from = second.output().length;
    first.type('1');
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'q2', option_id: 'once' });
    await second.sees('▶ Working', from);
    expect(second.output().slice(from).split('▶ Working').at(-1)).not.toContain('1 Allow once');
    for (const window of [first, second]) {
      window.type('\u0004');
      expect(await window.exit).toBe(0);
    }
  });

  it('44, desk 15: shows the queue, and prints it on /queue', async () => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'queue-one');
    const window = attached('queue-one');
    await empty(daemon);
    await window.sees('Enter sends');
    window.type('the first\r');
    const { task_id: taskId } = await daemon.next('task_resume');
    daemon.send({ type: 'status', running_tasks: [String(taskId)] });
    await window.sees('Working');
    const working = window.output().length;
    window.type('the second\r');
    await window.sees('1 queued', working);
    const from = window.output().length;
    window.type('/queue\r');
    await window.sees('the second', from);
    daemon.event(String(taskId), 'TASK_COMPLETE', { session_id: 'queue-one', result: 'done' });
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'the second' });
    const emptied = window.output().length;
    window.type('/queue\r');
    await window.sees('No messages are queued.', emptied);
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });

  it('44, desk 15: prints the changes of the session and of one file on /diff', async () => {
    const daemon = await stage.daemon('laptop', undefined, { 'X-Daemon-Capabilities': 'changes, transcript' });
    await stage.session(daemon, 'diff-one');
    const window = attached('diff-one');
    await empty(daemon);
    await window.sees('Enter sends');
    const files = ['src/limits.ts', 'src/route.ts'].map((path) => ({ path, change: 'edit', added: 1, removed: 1 }));
    const answer = async (changes: readonly (typeof files)[number][]) => {
      const { request_id } = await daemon.next('get_changes');
      daemon.send({ type: 'changes', request_id, scope: 'uncommitted', scopes: ['uncommitted'], files });
      for (const change of changes) {
        const asked = await daemon.next('get_diff');
        expect(asked.path).toBe(change.path);
        const hunks = [{ old: 3, new: 3, lines: [`-const before = '${change.path}';`, '+const \u001b[2Jnow = 1;'] }];
        daemon.send({ type: 'diff', request_id: asked.request_id, path: change.path, change, hunks });
      }
    };
    window.type('/diff\r');
    await answer(files);
    await window.sees("const before = 'src/route.ts';");
    const from = window.output().length;
    window.type('/diff src/limits.ts\r');
    await answer(files.slice(0, 1));
    await window.sees("const before = 'src/limits.ts';", from);
    expect(window.output()).not.toContain('\u001b[2J');
    expect(daemon.inbox.all.filter(({ type }) => type === 'task_resume')).toEqual([]);
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });

  it('44, desk 15: reconnects, shows the missed items once, and sends the text of the outage once', async () => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'away-one');
    const window = attached('away-one');
    await empty(daemon);
    await window.sees('Enter sends');
    stage.world.front.setDown(true);
    await window.sees(/Reconnecting in \d+ s/);
    window.type('typed offline\r');
    await window.sees('Not sent yet: waiting for the relay.');
    daemon.transcript('', 'away-one', [put('m1', 9, 'AGENT', 'All 41 pass again.')]);
    const from = window.output().length;
    stage.world.front.setDown(false);
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'typed offline' });
    while (!window.output().slice(from).includes('All 41 pass again.')) {
      const { request_id, session_id } = await daemon.next('get_messages');
      const messages = [put('m1', 9, 'AGENT', 'All 41 pass again.').item];
      daemon.send({ type: 'messages', request_id, session_id, messages, has_more: false, oldest_uuid: 'm1', newest_uuid: 'm1', v: 1 }); // prettier-ignore
      await window.sees('All 41 pass again.', from);
    }
    expect(window.output().split('All 41 pass again.')).toHaveLength(2);
    expect(daemon.inbox.all.filter(({ message }) => message === 'typed offline')).toHaveLength(1);
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });

  it('44, desk 15: draws its last lines and new items for the new width of a resized terminal', async () => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'narrow-one');
    const window = attached('narrow-one', { rows: 24, columns: 120 });
    await empty(daemon);
    const hints = 'Enter sends · Ctrl-C stops the agent · Ctrl-D leaves · /diff /queue /stop /desk /take /help';
    await window.sees(hints);
    const from = window.output().length;
    await window.resize({ rows: 20, columns: 60 });
    await window.sees(/Enter sends[^\n]{30,47}…/, from);
    const resized = window.output().length;
    const tool = {
      kind: 'tool',
      id: 't',
      title: `npm test ${'packages/of/the/garden '.repeat(5)}`,
      status: 'completed',
    };
    daemon.transcript('', 'narrow-one', [{ op: 'put', item: { ...put('t1', 9, 'AGENT', '').item, part: tool } }]);
    await window.sees('npm test', resized);
    // Every move of the cursor begins another line.
    const drawn = window
      .output()
      .slice(resized)
      .replace(/\u001b\[\d*[AGJ]/g, '\n')
      .replace(/\u001b\[[\d;?]*[A-Za-z]/g, '')
      .split(/[\r\n]+/);
    expect(drawn.filter((line) => line.length > 60)).toEqual([]);
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });

  it('44: keeps pasted lines together, and untrusted text moves nothing', async () => {
    const daemon = await stage.daemon('laptop', undefined, able);
    await stage.session(daemon, 'hostile-one');
    const window = attached('hostile-one');
    await empty(daemon);
    await window.sees('Enter sends');
    const from = window.output().length;
    const hostile = '\u001b[2J\u001b[1;1H\u001b]0;owned\u0007\u001b[?1049h\u009b5n gone';
    daemon.send({ type: 'session_activity', session_id: 'hostile-one', last_message: 'x', message_count: 2 });
    daemon.transcript('', 'hostile-one', [put('h1', 9, 'AGENT', hostile)]);
    await window.sees('gone', from);
    const own = /\u001b\[(?:\?2026[hl]|\?2004h|J|\d+[AG]|\d+m)/g;
    expect(window.output().slice(from).replace(own, '')).not.toContain('\u001b');
    window.type('\u001b[200~one\ntwo\u001b[201~\r');
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'one\ntwo' });
    window.type('\u0004');
    expect(await window.exit).toBe(0);
  });
});
