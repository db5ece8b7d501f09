/**
 * The rights of an agent's token at `/mcp` (rules, 19.8): the sessions it reaches, and the answers that only a person
 * gives.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';

interface Result {
  isError?: boolean;
  structuredContent: Record<string, unknown>;
}
interface Asker {
  scopes?: readonly string[];
  /** The sign-in of its token. */
  login?: string;
  meta?: object;
}
interface Begun {
  id: string;
  placeholder: string;
  native: string;
  taskId: string;
}

const drive = ['agents:drive'];
const more = ['agents:drive', 'agents:answer'];
const options = [
  { id: 'once', label: 'Allow', kind: 'allow_once' },
  { id: 'always', label: 'Allow from now on', kind: 'allow_always' },
  { id: 'mislabelled', label: 'Yes, and don’t ask again', kind: 'allow_once' },
  { id: 'unnamed', label: 'Yes, for this session' },
  { id: 'no', label: 'No', kind: 'reject_once' },
];
const permission = (uuid: string, given: object = {}) => ({ uuid, title: uuid, kind: 'permission', options, ...given });

describe('the token of an agent', () => {
  let relay: TestRelay;
  let app: TestApp;
  let daemon: TestDaemon;
  let field: TestDaemon;
  let count = 0;

  const tool = async (name: string, given: object, { scopes = drive, login, meta }: Asker = {}): Promise<Result> => {
    const token = relay.token('alice', { scopes, ...(login === undefined ? {} : { login }) });
    const headers = { Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}` };
    const params = { name, arguments: given, ...(meta ? { _meta: meta } : {}) };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const answer = await relay.call('POST', '/mcp', { user: null, headers, body });
    return (answer.body as { result: Result }).result;
  };
  const codeOf = async (...given: Parameters<typeof tool>) => (await tool(...given)).structuredContent['code'];

  const name = async (of: TestDaemon, taskId: string, placeholder: string): Promise<Begun> => {
    const native = `native-${(count += 1)}`;
    await of.next('task_start', (frame) => frame.task_id === taskId);
    of.event(taskId, 'SESSION_STARTED', { session_id: native });
    const id = `${of.deviceId}:scripted:${native}`;
    await app.next('session_update', ({ session }) => (session as { id: string }).id === id);
    return { id, placeholder, native, taskId };
  };
  /** A session that a person started. */
  const persons = async (of = daemon): Promise<Begun> => {
    const { body } = await relay.call('createSession', { body: { deviceId: of.deviceId, message: 'mine' } });
    return name(of, body.taskId, body.id);
  };
  /** A session that an agent started. */
  const agents = async (of = daemon, asker: Asker = {}): Promise<Begun> => {
    const { structuredContent } = await tool('start_session', { deviceId: of.deviceId, message: 'go' }, asker);
    return name(of, structuredContent['taskId'] as string, structuredContent['sessionId'] as string);
  };
  const ask = async (
    { id, taskId, native }: Begun,
    question: Record<string, unknown>,
    of = daemon,
  ): Promise<string> => {
    of.event(taskId, 'WAIT_FOR_USER', { session_id: native, prompt: question['title'], question });
    const isAsked = (session: unknown) => {
      const { id: seen, prompts = [] } = session as { id: string; prompts?: { prompt: string }[] };
      return seen === id && prompts.some(({ prompt }) => prompt === question['title']);
    };
    const { session } = await app.next('session_update', (frame) => isAsked(frame.session));
    return (session as { prompts: { id: string }[] }).prompts.at(-1)!.id;
  };

  beforeAll(async () => {
    relay = await startRelay({
      config: { agentTurnsPerHour: 1000, sessionCreatePerMinute: 1000, rateLimitPerMinute: 5000 },
    });
    app = await connectApp(relay);
    daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'prompts' } });
    field = await connectDaemon(relay);
  });
  afterAll(() => relay.stop());
  // Agents have few open turns.
  afterEach(
    () =>
      relay.database.sql.execute`UPDATE tasks SET state = 'cancelled', finished_at = now() WHERE finished_at IS NULL`,
  );

  it('S2: answers in a session that its sign-in started, and in no other', async () => {
    const own = await agents();
    const questionId = await ask(own, permission('own question'));
    expect(await tool('answer', { sessionId: own.id, questionId, option: 'once' })).not.toHaveProperty('isError');

    const persons1 = await persons();
    const theirs = { sessionId: persons1.id, questionId: await ask(persons1, permission('a question of a person')) };
    expect(await codeOf('answer', { ...theirs, option: 'once' })).toBe('INSUFFICIENT_SCOPE');
    // Nor with another program's sign-in, through an earlier id, or to reject.
    expect(await codeOf('answer', { ...theirs, option: 'no' }, { login: 'other' })).toBe('INSUFFICIENT_SCOPE');
    expect(await codeOf('answer', { ...theirs, sessionId: persons1.placeholder, option: 'once' })).toBe(
      'INSUFFICIENT_SCOPE',
    );
    const first = await agents(daemon, { login: 'first' });
    const among = { sessionId: first.id, questionId: await ask(first, permission('of the first')), option: 'once' };
    expect(await codeOf('answer', among, { login: 'second' })).toBe('INSUFFICIENT_SCOPE');
    expect(await codeOf('answer', among, { login: 'first' })).toBeUndefined();
    // The user sees the attempts.
    const { entries } = (await relay.call('listAudit')).body;
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'answerPrompt', outcome: 'INSUFFICIENT_SCOPE', target: persons1.id }),
    );
    expect((await relay.call('answerPrompt', { params: { id: persons1.id, uuid: theirs.questionId }, body: { option: 'no' } })).status).toBe(202); // prettier-ignore
  });

  it.each(['always', 'mislabelled', 'unnamed'])('S2: never chooses a permanent permission: %s', async (option) => {
    const own = await agents();
    const question = { sessionId: own.id, questionId: await ask(own, permission(`for good, ${option}`)) };
    expect(await codeOf('answer', { ...question, option })).toBe('PERSON_MUST_ANSWER');
    expect(await codeOf('answer', { ...question, option: 'no' })).toBeUndefined();
  });

  it('S2: never grants a permanent permission through text or a form', async () => {
    const plain = await agents(field);
    field.event(plain.taskId, 'WAIT_FOR_USER', {
      prompt: 'May I?',
      options: [{ label: 'Allow always' }, { label: 'No' }],
    });
    const { session } = await app.next('session_update', (frame) => (frame.session as { prompt?: { prompt: string } }).prompt?.prompt === 'May I?'); // prettier-ignore
    const { id: questionId } = (session as { prompt: { id: string } }).prompt;
    for (const answer of [{ text: 'Allow always' }, { text: '1' }, { option: '1' }])
      expect(await codeOf('answer', { sessionId: plain.id, questionId, ...answer })).toBe('PERSON_MUST_ANSWER');
    expect(await codeOf('answer', { sessionId: plain.id, questionId, option: '2' })).toBeUndefined();

    const form = await agents();
    const fields = [
      { name: 'scope', title: 'Scope', type: 'choice', choices: [{ id: 'a', label: 'Once' }, { id: 'b', label: 'Always' }] },
      { name: 'remember', title: 'Don’t ask again', type: 'boolean' },
    ]; // prettier-ignore
    const asked = { sessionId: form.id, questionId: await ask(form, { uuid: 'form', title: 'A form', kind: 'form', options: [], fields }) }; // prettier-ignore
    for (const given of [{ scope: 'b' }, { scope: 'a', remember: true }])
      expect(await codeOf('answer', { ...asked, fields: given })).toBe('PERSON_MUST_ANSWER');
    expect(await codeOf('answer', { ...asked, fields: { scope: 'a', remember: false } })).toBeUndefined();
  });

  it('S2: never answers in the session that it runs in, with any scope', async () => {
    const own = await agents(daemon, { login: 'first' });
    const question = { sessionId: own.id, questionId: await ask(own, permission('its own')), option: 'once' };
    for (const scopes of [drive, more]) {
      const asker = { scopes, login: 'first' };
      for (const fromSession of [own.id, own.placeholder])
        expect(await codeOf('answer', { ...question, fromSession }, asker)).toBe('PERSON_MUST_ANSWER');
      const other = await persons();
      // Both sessions count: the one from the client, and the one from the model.
      for (const [meta, fromSession] of [
        [own.id, other.id],
        [other.id, own.id],
      ])
        // prettier-ignore
        expect(await codeOf('answer', { ...question, fromSession }, { ...asker, meta: { 'relay/session': meta } })).toBe(
          'PERSON_MUST_ANSWER',
        );
    }
    expect(await codeOf('answer', question, { login: 'first' })).toBeUndefined();
  });

  it('S2: reads, steers and stops only sessions that its sign-in started', async () => {
    const mine = await persons();
    const own = await agents();
    for (const [name, given] of [
      ['read_messages', {}],
      ['wait_for_turn', { seconds: 0 }],
      ['wait_for_turn', { seconds: 0, taskId: mine.taskId }],
      ['send_message', { content: 'run this' }],
      ['cancel', {}],
    ] as const) {
      for (const sessionId of [mine.id, mine.placeholder])
        expect([name, await codeOf(name, { ...given, sessionId })]).toEqual([name, 'INSUFFICIENT_SCOPE']);
    }
    expect(await codeOf('wait_for_turn', { sessionId: own.id, taskId: mine.taskId, seconds: 0 })).toBe(
      'TASK_NOT_FOUND',
    );
    const listed = async (given: object, asker?: Asker) =>
      ((await tool('list_sessions', given, asker)).structuredContent['sessions'] as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await listed({ limit: 50 })).toContain(own.id);
    for (const filter of [{}, { status: 'active' }, { q: 'mine' }, { deviceId: daemon.deviceId }])
      expect(await listed({ limit: 50, ...filter })).not.toContain(mine.id);
    expect(await listed({ limit: 50 }, { login: 'nobody' })).toEqual([]);
  });

  it('S2: reaches all sessions of its user, and answers permanently, with the scope agents:answer', async () => {
    const mine = await persons();
    const asker = { scopes: more, login: 'trusted' };
    const listed = (await tool('list_sessions', { limit: 50 }, asker)).structuredContent['sessions'];
    expect(listed).toContainEqual(expect.objectContaining({ id: mine.id }));
    const questionId = await ask(mine, permission('trusted question'));
    expect(await codeOf('answer', { sessionId: mine.id, questionId, option: 'always' }, asker)).toBeUndefined();
    // The scope alone opens nothing.
    const token = relay.token('alice', { scopes: ['agents:answer'] });
    const headers = { Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}` };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    expect(await relay.call('POST', '/mcp', { user: null, headers, body: list })).toMatchObject({ status: 403 });
    expect(await relay.call('GET', '/api/sessions', { user: null, headers })).toMatchObject({ status: 403 });
  });

  it("S2: leaves a daemon's question and a mode that never asks to a person, with every scope", async () => {
    const asker = { scopes: more, login: 'personal' };
    const own = await agents(daemon, asker);
    const choices = [{ id: 'continue', label: 'Continue' }, { id: 'stop', label: 'Stop here' }]; // prettier-ignore
    const cap = { uuid: 'a cap', title: 'a cap', kind: 'choice', options: choices, text: true, person: true };
    const capped = { sessionId: own.id, questionId: await ask(own, cap) };
    for (const given of [{ option: 'continue' }, { option: 'stop' }, { text: 'Continue' }, { text: '1' }])
      expect([given, await codeOf('answer', { ...capped, ...given }, asker)]).toEqual([given, 'PERSON_MUST_ANSWER']);
    const route = { params: { id: own.id, uuid: capped.questionId }, body: { option: 'continue' } };
    expect((await relay.call('answerPrompt', route)).status).toBe(202);

    const modes = [
      { id: 'bypassPermissions', label: 'Yes', kind: 'allow_once' },
      { id: 'b', label: 'Yes, with ｆｕｌｌ access', kind: 'allow_always' },
      { id: 'no', label: 'No, without asking again', kind: 'reject_once' },
    ];
    const second = await agents(daemon, asker);
    const plan = { sessionId: second.id, questionId: await ask(second, permission('a plan', { options: modes })) };
    for (const option of ['bypassPermissions', 'b'])
      expect(await codeOf('answer', { ...plan, option }, asker)).toBe('PERSON_MUST_ANSWER');
    expect(await codeOf('answer', { ...plan, option: 'no' }, asker)).toBeUndefined();

    const third = await agents(daemon, asker);
    const fields = [{ name: 'mode', title: 'Mode', type: 'choice', choices: [{ id: 'yolo', label: 'Go' }, { id: 'ask', label: 'Ask' }] }]; // prettier-ignore
    const form = { sessionId: third.id, questionId: await ask(third, { uuid: 'modes', title: 'Modes', kind: 'form', options: [], fields }) }; // prettier-ignore
    expect(await codeOf('answer', { ...form, fields: { mode: 'yolo' } }, asker)).toBe('PERSON_MUST_ANSWER');
    expect(await codeOf('answer', { ...form, fields: { mode: 'ask' } }, asker)).toBeUndefined();
  });

  it('S2: keeps its session when the daemon reports it before naming it', async () => {
    const { structuredContent } = await tool('start_session', { deviceId: daemon.deviceId, message: 'merge' });
    const taskId = structuredContent['taskId'] as string;
    await daemon.next('task_start', (frame) => frame.task_id === taskId);
    const older = await persons();
    const report = {
      session_id: 'reported-first',
      title: 'merge',
      project_path: '',
      message_count: 1,
      status: 'active',
    };
    daemon.send({ type: 'report_sessions', sessions: [report] });
    const id = `${daemon.deviceId}:scripted:reported-first`;
    await app.next('session_update', ({ session }) => (session as { id: string }).id === id);
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'reported-first' });
    await app.next('session_update', ({ previousId }) => previousId === structuredContent['sessionId']);
    expect(await codeOf('wait_for_turn', { sessionId: id, seconds: 0 })).toBeUndefined();
    expect(await codeOf('wait_for_turn', { sessionId: older.id, seconds: 0 })).toBe('INSUFFICIENT_SCOPE');
  });
});
