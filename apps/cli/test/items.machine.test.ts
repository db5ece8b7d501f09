/** A daemon with a transcript: texts, tool calls, diffs, plans and questions, live and from history. */
import { describe, expect, it } from '@jest/globals';
import type { Item } from '@relay/protocol';
import type { Frame, TestDaemon } from '@relay/testing';
import { scene } from './scene.ts';

const stage = scene();
const at = '2026-01-01T10:00:00.000Z';
const headers = { 'X-Daemon-Capabilities': 'transcript, prompts' };

const item = (uuid: string, seq: number, part: Item['part'], content = '', v = seq): Item => ({
  uuid,
  seq,
  v,
  role: part.kind === 'user' ? 'USER' : 'AGENT',
  content,
  timestamp: at,
  part,
});
const edit = {
  kind: 'tool',
  id: 't1',
  title: 'Edit src/a.ts',
  does: 'edit',
  status: 'completed',
  diffs: [
    { path: 'src/a.ts', change: 'edit', added: 1, removed: 1, hunks: [{ old: 1, new: 1, lines: ['-old', '+new'] }] },
  ],
};
/** Answers the next request for items. */
async function tell(daemon: TestDaemon, v: number, items: readonly Item[], more: object = {}): Promise<Frame> {
  const request = await daemon.next('get_messages');
  daemon.send({
    type: 'messages',
    request_id: request.request_id,
    session_id: request.session_id,
    v,
    has_more: false,
    oldest_uuid: items[0]?.uuid ?? null,
    newest_uuid: items.at(-1)?.uuid ?? null,
    ...more,
    messages: items,
  });
  return request;
}
const frameOf = (daemon: TestDaemon, native: string, v: number, ops: readonly unknown[], task = '') =>
  daemon.send({
    type: 'event',
    event_type: 'TRANSCRIPT',
    task_id: task,
    session_id: native,
    v,
    ops,
  });

describe('relay tail of a session with items', () => {
  it('shows past and live items, each once, and requests missing ones', async () => {
    const daemon = await stage.daemon('laptop', undefined, headers);
    const id = await stage.session(daemon, 'talk', 'A talk');
    const program = stage.own.start(['tail', id]);
    const past = [
      item('u1', 1, { kind: 'user' }, 'Make it so'),
      item('a1', 2, { kind: 'text' }, 'Looking at the parser.'),
      item('h1', 3, { kind: 'thought' }, 'a secret thought'),
      item('t1', 4, edit),
    ];
    expect(await tell(daemon, 10, past)).toMatchObject({ parts: true });
    await program.says('+new');
    frameOf(daemon, 'talk', 11, [
      { op: 'put', item: item('t2', 5, { kind: 'tool', id: 't2', title: 'npm test', status: 'running' }) },
      { op: 'put', item: item('p1', 6, { kind: 'plan', entries: [{ text: 'Write it', status: 'in_progress' }] }) },
    ]);
    await program.says('▶');
    await program.says('Write it');
    frameOf(daemon, 'talk', 12, [
      { op: 'add', uuid: 't2', to: 'output', text: 'one\ntwo\n\u001b[31m3 tests failed' },
      { op: 'set', uuid: 't2', part: { status: 'failed', exit: 1 } },
      { op: 'put', item: item('a2', 7, { kind: 'text', open: true }, '') },
      { op: 'add', uuid: 'a2', text: 'Three of them fail, and I will now say why in ' },
    ]);
    await program.says('3 tests failed');
    await program.says('Three of them');
    // 13 is lost: a text of the item, and its completion.
    frameOf(daemon, 'talk', 14, [{ op: 'put', item: item('x1', 8, { kind: 'hologram', depth: 3 }, 'a hologram') }]);
    const whole = item('a2', 7, { kind: 'text' }, 'Three of them fail, and I will now say why in a few words.', 13);
    const holo = item('x1', 8, { kind: 'hologram', depth: 3 }, 'a hologram', 14);
    expect(await tell(daemon, 14, [whole, holo])).toMatchObject({ parts: true, changed: 12 });
    await program.says('a few words.');
    await program.says('a hologram');
    program.child.kill('SIGINT');
    const { code, out } = await program.exit;
    expect(code).toBe(0);
    expect(out).not.toContain('secret');
    expect(out).not.toContain('\u001b');
    expect(out).toMatch(
      /\nyou .*\nMake it so\n\nagent .*\nLooking at the parser\.\n✔ .* Edit src\/a\.ts · completed\n {2}M src\/a\.ts \+1 -1\n {4}@@ -1 \+1 @@\n {4}-old\n {4}\+new\n/,
    );
    expect(out).toMatch(
      /▶ .* npm test · running\nPlan\n {2}▶ Write it\n✘ .* npm test · failed, exit 1\n {4}one\n {4}two\n {4}3 tests failed\n/,
    );
    expect(out).toContain('Three of them fail, and I will now say why in a few words.\n');
    for (const once of ['Make it so', 'Looking at', 'Three of them', 'a hologram'])
      expect(out.split(once)).toHaveLength(2);
  });

  it('prints raw items with --json, complete in each state, and their messages once', async () => {
    const daemon = await stage.daemon('laptop', undefined, headers);
    const id = await stage.session(daemon, 'json');
    const sent = stage.own.start(['send', id, 'Go', '--watch', '--json', '--thoughts']);
    const frame = await daemon.next('task_resume');
    const { task_id: task, message_uuid: own } = frame as unknown as { task_id: string; message_uuid: string };
    const user = item(own, 9, { kind: 'user' }, 'Go', 20);
    const text = item('a9', 10, { kind: 'text', open: true }, '', 21);
    frameOf(daemon, 'json', 21, [{ op: 'put', item: text }], task);
    await tell(daemon, 21, [item('old', 8, { kind: 'text' }, 'long ago'), user, text]);
    await sent.says('"a9"');
    frameOf(daemon, 'json', 22, [{ op: 'add', uuid: 'a9', text: 'Hello ' }], task);
    frameOf(
      daemon,
      'json',
      23,
      [
        { op: 'add', uuid: 'a9', text: 'there.' },
        { op: 'set', uuid: 'a9', part: { open: null } },
      ],
      task,
    );
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'json', result: 'Hello there.', message_uuid: 'a9' });
    expect((await sent.exit).code).toBe(0);
    const items = sent.lines().filter(({ type }) => type === 'item');
    expect(items.map(({ item: one }) => (one as Item).content)).toEqual(['', 'Hello there.']);
    expect(items.at(-1)).toEqual({
      type: 'item',
      sessionId: id,
      item: { ...text, content: 'Hello there.', part: { kind: 'text' }, v: 23 },
    });
    expect(sent.lines().filter(({ type }) => type === 'new_message')).toEqual([]);
    expect(sent.lines().at(-1)).toMatchObject({ type: 'task', task: { state: 'completed' } });
  });
});

describe('relay messages', () => {
  it('prints a page, one item per line with --json, and messages of a daemon without items', async () => {
    const daemon = await stage.daemon('laptop', undefined, headers);
    const id = await stage.session(daemon, 'page');
    const items = [
      item('u1', 1, { kind: 'user' }, 'Hi'),
      item('h1', 2, { kind: 'thought' }, 'hm'),
      item('t1', 3, edit),
    ];
    const shown = stage.own.run(['messages', id, '--thoughts']);
    await tell(daemon, 3, items, { has_more: true });
    expect(await shown).toMatchObject({
      code: 0,
      out: expect.stringMatching(/agent thinks .*\nhm\n✔/),
      err: expect.stringContaining('--before u1'),
    });
    const json = stage.own.run(['messages', id, '--json', '-n', '3', '--before', 'z']);
    expect(await tell(daemon, 3, items)).toMatchObject({ limit: 3, before_uuid: 'z', parts: true });
    expect((await json).out).toBe(items.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const plain = await stage.daemon('desktop');
    const other = await stage.session(plain, 'plain');
    const read = stage.own.run(['messages', other]);
    const message = { uuid: 'm1', role: 'AGENT', content: 'Plain words', timestamp: at };
    const request = await plain.next('get_messages');
    expect(request).not.toHaveProperty('parts');
    plain.send({
      ...request,
      type: 'messages',
      messages: [message],
      has_more: false,
      oldest_uuid: 'm1',
      newest_uuid: 'm1',
    });
    expect((await read).out).toMatch(/^\nagent .*\nPlain words\n$/);
    expect((await stage.own.run(['messages', id, '-n', '0'])).code).toBe(2);
  });
});

describe('relay messages --full', () => {
  const withContent = { 'X-Daemon-Capabilities': 'transcript, content' };
  const printed = (uuid: string, seq: number, more: object) =>
    item(uuid, seq, { kind: 'tool', id: uuid, title: `Print ${uuid}`, status: 'completed', ...more });
  const cut = { output: 'first\n[… 90 bytes not shown]\nlast', left: 90, data: 'output' };

  it('prints whole outputs, piece by piece, and the kept part of an output that is gone', async () => {
    const daemon = await stage.daemon('laptop', undefined, withContent);
    const id = await stage.session(daemon, 'full');
    const shown = stage.own.run(['messages', id, '--full']);
    await tell(daemon, 3, [printed('a', 1, cut), printed('b', 2, cut), printed('c', 3, { output: 'short' })]);
    const pieces = ['first\nmid', 'dle\nlast\n'];
    const size = pieces.join('').length;
    for (const [at, words] of pieces.entries()) {
      const request = await daemon.next('content_request');
      expect(request).toMatchObject({ uuid: 'a', name: 'output', offset: at * pieces[0]!.length });
      const data = Buffer.from(words).toString('base64');
      daemon.send({ ...request, type: 'content_response', mime: 'text/plain', size, data });
    }
    const gone = await daemon.next('content_request');
    daemon.send({ ...gone, type: 'content_response', code: 'CONTENT_NOT_FOUND', error: 'removed' });
    const { out, code } = await shown;
    expect(code).toBe(0);
    expect(out.replace(/.*(✔|Print)/g, '$1')).toBe(
      [
        'Print a · completed\n    first\n    middle\n    last\n',
        'Print b · completed\n    … 90 B of it are not shown\n    first\n    [… 90 bytes not shown]\n    last\n',
        'Print c · completed\n    short\n',
      ].join(''),
    );
    expect(daemon.inbox.count('content_request')).toBe(3);
  });

  it('sends no request to an older daemon', async () => {
    const daemon = await stage.daemon('laptop', undefined, headers);
    const id = await stage.session(daemon, 'old');
    const shown = stage.own.run(['messages', id, '--full']);
    await tell(daemon, 2, [printed('a', 1, cut), printed('b', 2, cut)]);
    expect((await shown).out.match(/90 B of it are not shown/g)).toHaveLength(2);
    expect(daemon.inbox.count('content_request')).toBe(0);
  });
});

describe('several questions at once', () => {
  it('appear with their subjects, and an id answers each one separately', async () => {
    const daemon = await stage.daemon('laptop', undefined, headers);
    const id = await stage.session(daemon, 'asks');
    await stage.own.run(['send', id, 'Go']);
    const task = ((await daemon.next('task_resume')) as unknown as { task_id: string }).task_id;
    const question = (uuid: string, title: string, subject: object) => ({
      uuid,
      title,
      kind: 'permission',
      options: [
        { id: 'yes', label: 'Allow', kind: 'allow_once' },
        { id: 'no', label: 'Reject', kind: 'reject_once' },
      ],
      text: true,
      subject,
    });
    const one = question('11111111-0000-4000-8000-000000000001', 'Run it?', {
      type: 'command',
      command: 'npm test',
      cwd: '/garden',
    });
    const two = question('11111111-0000-4000-8000-000000000002', 'Write it?', { type: 'edit', diffs: edit.diffs });
    daemon.send({ type: 'event', event_type: 'PROMPT_OPEN', task_id: task, session_id: 'asks', question: two });
    daemon.event(task, 'WAIT_FOR_USER', {
      session_id: 'asks',
      prompt: one.title,
      result: '',
      options: [],
      question: one,
    });
    await stage.settled(task, 'waiting');
    const { out } = await stage.own.run(['answer', id]);
    expect(out).toMatch(/The agent asks \(1 of 2\): /);
    expect(out).toContain('Run it?\n  $ npm test  (in /garden)\n  1) Allow\n  2) Reject\n');
    expect(out).toContain('  M src/a.ts +1 -1\n    @@ -1 +1 @@\n    -old\n    +new\n');
    expect(out).toContain(`--question ${one.uuid} --option <number>, or a text`);
    expect(await stage.own.json(['answer', id, '--option', '1'])).toMatchObject({
      exit: 2,
      error: expect.stringContaining('2 questions are open'),
    });
    const wrong = await stage.own.json(['answer', id, '--option', '1', '--question', '11111111']);
    expect(wrong).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['answer', id, '--option', '2', '--question', two.uuid])).toMatchObject({ exit: 0 });
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: two.uuid, option_id: 'no' });
    expect(await stage.own.json(['answer', id, '--option', '1', '--question', two.uuid])).toMatchObject({
      exit: 1,
      code: 'PROMPT_SUPERSEDED',
    });
  });
});

describe('a form', () => {
  it('appears with its fields, and one answer fills all of them', async () => {
    const daemon = await stage.daemon('laptop', undefined, headers);
    const id = await stage.session(daemon, 'form');
    await stage.own.run(['send', id, 'Go']);
    const task = ((await daemon.next('task_resume')) as unknown as { task_id: string }).task_id;
    const fields = [
      { name: 'size', title: 'Size', type: 'choice', required: true, choices: [{ id: 'l', label: 'Large' }] },
      { name: 'gift', title: 'Gift wrap', type: 'boolean' },
      { name: 'count', title: 'count', type: 'integer', min: 1 },
      {
        name: 'extras',
        title: 'Extras',
        type: 'choices',
        choices: [
          { id: 'a', label: 'A' },
          { id: 'b', label: 'B' },
        ],
      },
      { name: 'note', title: 'Note', type: 'text' },
    ];
    const question = {
      uuid: '22222222-0000-4000-8000-000000000001',
      title: 'Two things',
      kind: 'form',
      options: [],
      fields,
    };
    const asked = { session_id: 'form', prompt: 'Two things', result: '', options: [], question };
    daemon.event(task, 'WAIT_FOR_USER', asked);
    await stage.settled(task, 'waiting');
    const { out } = await stage.own.run(['answer', id]);
    expect(out).toContain('  - size: Size (choice, required): l\n  - gift: Gift wrap (boolean)\n  - count (integer)\n');
    expect(out).toContain('--field <name>=<value> …');
    for (const wrong of [
      ['size'],
      ['size=xl'],
      ['gift=perhaps', 'size=l'],
      ['count=0', 'size=l'],
      ['gift=yes'],
      ['x=1'],
    ])
      expect([wrong, await stage.own.json(['answer', id, ...wrong.flatMap((one) => ['--field', one])])]).toMatchObject([
        wrong,
        { exit: 2 },
      ]);
    const given = ['size=Large', 'gift=no', 'count=2', 'extras=A, b', 'note=a=b'].flatMap((one) => ['--field', one]);
    expect(await stage.own.json(['answer', id, ...given])).toMatchObject({ exit: 0 });
    expect(await daemon.next('task_resume')).toMatchObject({
      prompt_uuid: question.uuid,
      fields: { size: 'l', gift: false, count: 2, extras: ['a', 'b'], note: 'a=b' },
    });
  });
});

describe('relay rename, archive and delete', () => {
  it('changes one session, and delete asks first', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'change');
    expect((await stage.own.run(['rename', id, 'A \u001b[31mname'])).out).toBe('Renamed change to "A name".\n');
    expect(await stage.own.json(['rename', id, ' '])).toMatchObject({ exit: 2 });
    expect((await stage.own.run(['archive', 'change'])).out).toContain('is archived');
    expect((await stage.own.json(['sessions'])).sessions).toEqual([]);
    expect(await stage.own.json(['archive', 'change', '--undo'])).toMatchObject({ exit: 0, archived: false });
    expect(await stage.own.json(['delete', id])).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['delete', id, '--yes'])).toEqual({ exit: 0, id, deleted: true });
    expect(await stage.own.json(['delete', id, '--yes'])).toMatchObject({ exit: 4 });
  });
});
