import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type AddSubscription, type Route, routes } from '@relay/protocol';
import {
  type Frame,
  type PushReceiver,
  type TestDaemon,
  connectDaemon,
  openPushKeys,
  registerDevice,
  startPushReceiver,
} from '@relay/testing';
import { createAnswerTokens } from '../../src/push/answer-tokens.ts';
import { createSeal } from '../../src/push/sealed.ts';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { type Scene, noticesSettle, openScene, sessionOf, updateOf } from '../scene.ts';
import { until } from '../until.ts';

interface Pushed {
  title: string;
  body: string;
  lang: string;
  actions?: { action: string; title: string; navigate: string; type?: string }[];
  data: { promptId?: string; tokens?: Record<string, string>; cause: string; version: number };
  app_badge: number;
}

const secret = ['p'.repeat(32)];
const dayMs = 24 * 3600_000;
let count = 0;

/** Rules, 14.41 and 14.42: two apis, one daemon that names its questions, browsers at a push service of the test. */
describe('answers in a notification', () => {
  let scene: Scene;
  let daemon: TestDaemon;
  let receiver: PushReceiver;
  const added: string[] = [];

  beforeAll(async () => {
    receiver = await startPushReceiver();
    const config = { pushSecret: secret, pushAllowedHosts: [receiver.host], outboxPollMs: 200, offlineGraceMs: 500 };
    scene = await openScene({ apis: 2, transports: [], config });
    daemon = await connectDaemon(scene.relay, { capabilities: ['prompts'] });
    await noticesSettle(scene.relay);
  });
  afterEach(async () => {
    for (const id of added.splice(0)) await scene.relay.call('removeSubscription', { params: { id } });
  });
  afterAll(async () => {
    await scene.relay.stop();
    await receiver.close();
  });

  /** A browser of alice, and its push messages. */
  const browser = async (more: Partial<AddSubscription> = {}) => {
    const path = `/push/${(count += 1)}`;
    const keys = openPushKeys();
    const body = { kind: 'webpush', endpoint: `${receiver.url}${path}`, keys: keys.keys, ...more } as const;
    const { subscription } = (await scene.relay.call('addSubscription', { body })).body;
    added.push(subscription.id);
    let seen = 0;
    const another = () => (seen = receiver.at(path).length);
    const pushed = async (): Promise<Pushed> => {
      /** Leaves out notices of other browsers. */
      const all = () =>
        receiver
          .at(path)
          .slice(seen)
          .flatMap(({ body: sealed }) => {
            expect(sealed.length).toBeLessThanOrEqual(4096);
            const { notification } = keys.read(sealed) as { notification: Pushed };
            return /account|Konto/.test(notification.title) ? [] : [notification];
          });
      await until(`something at ${path}`, () => all().length > 0);
      return all().at(-1)!;
    };
    return { id: subscription.id, subscription, pushed, another };
  };
  const permission = (more: object = {}) => ({
    uuid: `question-${(count += 1)}`,
    title: 'May I pull the weeds?',
    kind: 'permission',
    options: [
      { id: 'yes', label: 'Allow', kind: 'allow_once' },
      { id: 'always', label: 'Always allow', kind: 'allow_always' },
      { id: 'no', label: 'Refuse', kind: 'reject_once' },
    ],
    subject: { type: 'command', command: 'rm weeds', cwd: '/garden' },
    ...more,
  });
  /** A watched session whose agent asks this question. */
  const ask = async (question: { uuid: string; title: string }, of = daemon) => {
    const native = `native-${(count += 1)}`;
    const body = { deviceId: of.deviceId, message: 'Water the garden' };
    const { taskId } = (await scene.relay.call('createSession', { body })).body;
    await of.next('task_start', (frame) => frame.task_id === taskId);
    of.event(taskId, 'SESSION_STARTED', { session_id: native });
    const id = `${of.deviceId}:${of.registration.agentType}:${native}`;
    await updateOf(scene.app, id);
    await scene.relay.call('watch', { body: { sessionId: id } });
    of.event(taskId, 'WAIT_FOR_USER', { prompt: question.title, question });
    await updateOf(scene.app, id, ({ prompts }) => prompts?.[0]?.id === question.uuid);
    return { id, native };
  };
  const give = (token: string | undefined, { text, api = 0 }: { text?: string; api?: number } = {}) =>
    scene.relay.call('giveAnswer', {
      ...{ user: null, api, headers: { Authorization: `Bearer ${token}` } },
      body: text === undefined ? {} : { text },
    });
  const resumes = (native: string) => daemon.inbox.count('task_resume', ({ session_id: id }) => id === native);
  const tokens = (now = Date.now()) =>
    createAnswerTokens({
      database: scene.relay.database,
      seal: createSeal(secret),
      publicUrl: scene.relay.config.publicUrl,
      now: () => now,
    });

  it('reject by the token alone, once, and name the address that answered', async () => {
    const { pushed } = await browser({ label: 'My phone', actions: 'all' });
    const question = permission();
    const { id, native } = await ask(question);
    const { title, body, actions, data, app_badge: badge } = await pushed();
    const { version, counts } = (await scene.relay.call('listInbox')).body;
    expect({ badge, version: data.version }).toEqual({ badge: 1, version });
    expect(counts.badge).toBe(1);
    expect({ title, body }).toEqual({
      title: 'An agent needs you',
      body: 'Water the garden\nMay I pull the weeds?\n$ rm weeds\n/garden',
    });
    expect(actions!.map(({ action, title: word }) => [action, word])).toEqual([
      ['allow', 'Allow once'],
      ['reject', 'Reject'],
    ]);
    expect(data).toMatchObject({ cause: 'needs_you', promptId: question.uuid });
    const answer = await give(data.tokens!.reject, { api: 1 });
    expectSuccess('giveAnswer', 202, answer);
    expect(answer.body).toEqual({ sessionId: id, promptId: question.uuid, outcome: 'sent' });
    expect(await daemon.next('task_resume', ({ session_id }) => session_id === native)).toMatchObject({
      ...{ prompt_uuid: question.uuid, option_id: 'no', message: 'Refuse', answered_on: 'My phone' },
    });
    // A replay returns the same answer; the other button comes too late.
    const again = await give(data.tokens!.reject);
    expect(again).toMatchObject({ status: 202, body: answer.body });
    expect(again.headers['idempotent-replay']).toBe('true');
    const late = await give(data.tokens!.allow);
    expectRefusal(late, 'PROMPT_ALREADY_ANSWERED');
    expect(late.body).toMatchObject({
      answer: { option: 'no', label: 'Refuse', on: 'My phone', at: expect.any(String) },
    });
    expect(resumes(native)).toBe(1);
  });

  it('work even if the api cannot find the owner of the machine', async () => {
    const { pushed } = await browser();
    const { native } = await ask(permission());
    const { data } = await pushed();
    const owners = jest.spyOn(scene.relay.apis[0]!.backplane, 'owners').mockRejectedValue(new Error('Redis is away'));
    const answer = await give(data.tokens!.reject);
    expect(owners).toHaveBeenCalled();
    owners.mockRestore();
    expect(answer.status).toBe(202);
    await daemon.next('task_resume', ({ session_id: id }) => id === native);
    expect(resumes(native)).toBe(1);
  });

  it('are in the language of the address, and follow a later choice', async () => {
    const german = await browser({ language: 'de', actions: 'all', detail: 'text' });
    const [english, plain] = [await browser({ actions: 'all' }), await browser({ language: 'de', detail: 'none' })];
    await ask(permission());
    const worded = async ({ pushed }: typeof german) => {
      const { title, lang, actions } = await pushed();
      return { title, lang, actions: actions!.map(({ title: word }) => word) };
    };
    const inGerman = { title: 'Ein Agent braucht dich', lang: 'de', actions: ['Einmal erlauben', 'Ablehnen'] };
    const inEnglish = { title: 'An agent needs you', lang: 'en', actions: ['Allow once', 'Reject'] };
    expect(await worded(german)).toEqual(inGerman);
    expect(await worded(english)).toEqual(inEnglish);
    expect((await plain.pushed()).body).toBe('Öffne Relay, um mehr zu sehen.');
    for (const [{ id }, language] of [[german, 'en'], [english, 'de']] as const)
      expectSuccess('changeSubscription', 200, await scene.relay.call('changeSubscription', { params: { id }, body: { language } })); // prettier-ignore
    for (const one of [german, english]) one.another();
    await ask(permission());
    expect(await worded(german)).toEqual(inEnglish);
    expect(await worded(english)).toEqual(inGerman);
  });

  it('of three users at once: one counts, and one frame goes to the daemon', async () => {
    const [phone, laptop] = [await browser({ actions: 'all' }), await browser({ actions: 'all', label: 'Laptop' })];
    const question = permission();
    const { id, native } = await ask(question);
    const [one, other] = [await phone.pushed(), await laptop.pushed()];
    const all = await Promise.all([
      give(one.data.tokens!.reject, { api: 0 }),
      give(other.data.tokens!.allow, { api: 1 }),
      scene.relay.call('answerPrompt', { params: { id, uuid: question.uuid }, body: { option: 'always' }, api: 1 }),
    ]);
    expect(all.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    for (const refused of all.filter(({ status }) => status === 409)) expectRefusal(refused, 'PROMPT_ALREADY_ANSWERED');
    await daemon.next('task_resume', ({ session_id }) => session_id === native);
    // A second frame would have been written before this one.
    const next = permission();
    const second = await ask(next);
    await scene.relay.call('answerPrompt', { params: { id: second.id, uuid: next.uuid }, body: { option: 'no' } });
    await daemon.next('task_resume', ({ session_id }) => session_id === second.native);
    expect(resumes(native)).toBe(1);
  });

  const offered = async (actions: AddSubscription['actions'], question: { uuid: string; title: string }, more = {}) => {
    const { pushed } = await browser({ ...(actions === undefined ? {} : { actions }), ...more });
    await ask(question);
    const { actions: found = [], body } = await pushed();
    return { found: found.map(({ action }) => action), body };
  };

  it.each<[string, AddSubscription['actions'], object, object, string[]]>([
    ['only reject by default', undefined, {}, {}, ['reject']],
    ['nothing if the user chose that', 'none', {}, {}, []],
    ['both if the message shows the whole question', 'all', {}, {}, ['allow', 'reject']],
    [
      'never an option that allows always',
      'all',
      { options: [{ id: 'a', label: 'Always', kind: 'allow_always' }] },
      {},
      [],
    ],
    ['no allow for a truncated question', 'all', { title: 'May I? '.repeat(100) }, {}, ['reject']],
    [
      'no allow for a command longer than the message',
      'all',
      { subject: { type: 'command', command: `echo ${'x'.repeat(4000)}; rm -rf /` } },
      {},
      ['reject'],
    ],
    ['no allow for text with invisible characters', 'all', { title: 'May I list\u202e files?' }, {}, ['reject']],
    [
      'no allow for file changes, which text does not show',
      'all',
      { subject: { type: 'edit', diffs: [{ path: 'a', change: 'edit', added: 1, removed: 0 }] } },
      {},
      ['reject'],
    ],
    ['no allow if the message omits the question', 'all', {}, { detail: 'title' }, ['reject']],
    ['a reply to a text question', 'all', { kind: 'text', options: [], subject: undefined }, {}, ['reply']],
    ['no reply unless the user chose all', 'reject', { kind: 'text', options: [], subject: undefined }, {}, []],
  ])('offer %s', async (_name, actions, question, more, expected) => {
    expect((await offered(actions, permission(question), more)).found).toEqual(expected);
  });

  it('D3: reject a question of a daemon without kinds, by the label of the refusal', async () => {
    const plain = await connectDaemon(scene.relay);
    // Otherwise the browser could get the notice of this new machine instead of the question.
    await noticesSettle(scene.relay);
    const { pushed } = await browser();
    const body = { deviceId: plain.deviceId, message: 'Water the garden' };
    const { taskId } = (await scene.relay.call('createSession', { body })).body;
    await plain.next('task_start');
    plain.event(taskId, 'WAIT_FOR_USER', {
      ...{ session_id: 'plain', prompt: 'May I?' },
      options: [{ label: 'Allow' }, { label: 'Always allow' }, { label: 'Deny.' }],
    });
    const { actions, data } = await pushed();
    expect(actions!.map(({ action }) => action)).toEqual(['reject']);
    expect((await give(data.tokens!.reject)).status).toBe(202);
    expect(await plain.next('task_resume')).toMatchObject({ message: 'Deny.' });
    await plain.close();
  });

  it('D3: offer nothing if two labels refuse, or no label does', async () => {
    for (const labels of [
      ['No', 'Reject'],
      ['Now', 'Later'],
    ]) {
      const options = labels.map((label, index) => ({ id: `${index}`, label }));
      expect((await offered('all', permission({ options, kind: 'choice' }))).found).toEqual([]);
    }
  });

  it.each([
    ['in a script of three bytes', '許'.repeat(380)],
    ['after zero-width characters', `List the files?${'\u200d'.repeat(360)}`],
  ])('offer allow only with the whole question in the message, %s', async (_name, title) => {
    const { body, found } = await offered('all', permission({ title }));
    expect(found).toEqual(['allow', 'reject']);
    expect(body.split('\n').slice(1)).toEqual([title, '$ rm weeds', '/garden']);
  });

  it('omit the question if the user wants no detail', async () => {
    const { body, found } = await offered('all', permission(), { detail: 'none' });
    expect({ body, found }).toEqual({ body: 'Open Relay to see more.', found: ['reject'] });
  });

  it('reply with a text, and a second text comes too late', async () => {
    const { pushed } = await browser({ actions: 'all' });
    const { native } = await ask(permission({ kind: 'text', options: [], subject: undefined }));
    const { data, actions } = await pushed();
    expect(actions).toMatchObject([{ action: 'reply', type: 'text' }]);
    expectRefusal(await give(data.tokens!.reply), 'INVALID_ANSWER');
    expectRefusal(await give(data.tokens!.reply, { text: ' ' }), 'INVALID_REQUEST');
    expect((await give(data.tokens!.reply, { text: 'Only the nettles' })).status).toBe(202);
    expect(await daemon.next('task_resume', ({ session_id }) => session_id === native)).toMatchObject({
      message: 'Only the nettles',
    });
    expect((await give(data.tokens!.reply, { text: 'Only the nettles' })).headers['idempotent-replay']).toBe('true');
    expectRefusal(await give(data.tokens!.reply, { text: 'All of them' }), 'PROMPT_ALREADY_ANSWERED');
    expect(resumes(native)).toBe(1);
  });

  it('stay queued for an offline machine, and return the expiry time', async () => {
    const registration = await registerDevice(scene.relay);
    const away = await connectDaemon(scene.relay, { capabilities: ['prompts'], registration });
    await noticesSettle(scene.relay);
    const { pushed } = await browser();
    await ask(permission(), away);
    const { data } = await pushed();
    await away.drop();
    await scene.app.next('device_status', ({ deviceId, status }) => deviceId === away.deviceId && status === 'offline');
    const answer = await give(data.tokens!.reject);
    expectSuccess('giveAnswer', 202, answer);
    expect(answer.body).toMatchObject({ outcome: 'queued', queuedUntil: expect.any(String) });
  });

  it('come too late for a question that its agent withdrew', async () => {
    const { pushed } = await browser();
    const question = permission();
    const { id, native } = await ask(question);
    const { data } = await pushed();
    const seen = scene.app.inbox.all.length;
    daemon.event('', 'PROMPT_CLOSED', { session_id: native, uuid: question.uuid, state: 'superseded' });
    // Earlier frames have no question either.
    const isClosed = (frame: Frame) =>
      frame.type === 'session_update' && sessionOf(frame).id === id && sessionOf(frame).prompts === undefined;
    await until('the question is closed', () => scene.app.inbox.all.slice(seen).some(isClosed));
    expectRefusal(await give(data.tokens!.reject), 'PROMPT_SUPERSEDED');
    expect(resumes(native)).toBe(0);
  });

  it('are refused with a token that is expired or revoked, or belongs to another question or user', async () => {
    const { id: address, pushed } = await browser();
    const question = permission();
    const { id: session, native } = await ask(question);
    const { data } = await pushed();
    const { sub } = JSON.parse(Buffer.from(data.tokens!.reject!.split('.')[1]!, 'base64url').toString()) as {
      sub: string;
    };
    const claims = { sub, address, jti: 'one', session, prompt: question.uuid, option: 'no' };
    const sign = async (more: object, expiresAtMs = Date.now() + 60_000, of = tokens()) =>
      (await of.sign([{ ...claims, ...more }], expiresAtMs))![0];
    expectRefusal(await give(await sign({}, Date.now() - 60_000)), 'TOKEN_EXPIRED');
    expectRefusal(await give(await sign({ sub: 'mallory' })), 'TOKEN_REVOKED');
    expectRefusal(await give(await sign({ sid: 'another sign-in' })), 'TOKEN_REVOKED');
    expectRefusal(await give(await sign({ prompt: 'no such question' })), 'PROMPT_NOT_FOUND');
    expectRefusal(await give(await sign({ digest: 'f'.repeat(32) })), 'PROMPT_SUPERSEDED');
    const elsewhere = createAnswerTokens({
      database: scene.relay.database,
      seal: createSeal(secret),
      publicUrl: 'https://other.example.com',
    });
    expectRefusal(await give(await sign({}, undefined, elsewhere)), 'INVALID_TOKEN');
    const [head, body, signature] = data.tokens!.reject!.split('.');
    const changed = Buffer.from(JSON.stringify({ ...claims, aud: 'x' })).toString('base64url');
    expectRefusal(await give(`${head}.${changed}.${signature}`), 'INVALID_TOKEN');
    expectRefusal(await give(`${head}.${body}.`), 'INVALID_TOKEN');
    expectRefusal(await give(scene.relay.token()), 'INVALID_TOKEN');
    const part = (text: string) => Buffer.from(text).toString('base64url');
    expectRefusal(await give(`${part('{"alg":"ES256","typ":"JWT"}')}.${part('not json')}.AAAA`), 'INVALID_TOKEN');
    expectRefusal(await scene.relay.call('giveAnswer', { user: null, body: {} }), 'UNAUTHORIZED');
    await scene.relay.call('removeSubscription', { params: { id: address } });
    expectRefusal(await give(data.tokens!.reject), 'TOKEN_REVOKED');
    expect(resumes(native)).toBe(0);
  });

  it('refuse a body that is too large or not JSON', async () => {
    const { pushed } = await browser();
    await ask(permission());
    const { data } = await pushed();
    const send = (raw: string | Buffer, type = 'application/json') =>
      scene.relay.call('POST', '/api/answers', {
        ...{ user: null, raw },
        headers: { Authorization: `Bearer ${data.tokens!.reject}`, 'Content-Type': type },
      });
    for (const raw of ['{"a":', 'hello', '[]', '7', 'null', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])])
      expectRefusal(await send(raw), 'INVALID_REQUEST', 'body');
    expectRefusal(await send('{}', 'text/plain'), 'UNSUPPORTED_MEDIA_TYPE');
    expectRefusal(await send(JSON.stringify({ text: 'x'.repeat(1024 * 1024) })), 'PAYLOAD_TOO_LARGE', '1 MiB');
  });

  it('cannot use their token on any other route', async () => {
    const { pushed } = await browser();
    await ask(permission());
    const { data } = await pushed();
    const headers = { Authorization: `Bearer ${data.tokens!.reject}` };
    for (const { method, path, credential } of Object.values<Route>(routes)) {
      if (credential === 'none' || credential === 'answer') continue;
      const answer = await scene.relay.call(method, path.replace(/:\w+/g, 'x'), { user: null, headers });
      expectRefusal(answer, 'INVALID_TOKEN');
    }
  });

  it('verify for two days after their key has signed for 30, on every instance, without a read for each', async () => {
    const start = Math.ceil(Date.now() / (30 * dayMs)) * 30 * dayMs;
    const lastMoment = start - 1;
    const claims = { sub: 'ada', address: 'a', jti: 'j', session: 's', prompt: 'p', option: 'no' };
    const [token] = (await tokens(lastMoment).sign([claims], lastMoment + dayMs))!;
    const [newer] = (await tokens(start).sign([claims], start + dayMs))!;
    const kid = (text: string) =>
      (JSON.parse(Buffer.from(text.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
    expect(kid(token!)).not.toBe(kid(newer!));
    expect(await tokens(start + dayMs / 2).verify(token!)).toMatchObject(claims);

    let reads = 0;
    let now = start;
    const { database } = scene.relay;
    const sql = {
      ...database.sql,
      query: (...given: never[]) => (
        (reads += 1),
        (database.sql.query as never as (...all: never[]) => never)(...given)
      ),
    };
    const counting = createAnswerTokens({
      database: { sql: sql as never },
      seal: createSeal(secret),
      publicUrl: scene.relay.config.publicUrl,
      now: () => now,
    });
    const forged = (name: string) =>
      `${Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'answer+jwt', kid: name })).toString('base64url')}.e30.e30`;
    const unknown = `answers:${start / (30 * dayMs) + 1}`;
    await expect(counting.verify(forged(unknown))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await expect(counting.verify(forged(unknown))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await expect(counting.verify(forged('answers:1'))).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
    await counting.verify(token!);
    expect(reads).toBe(1);
    now += 30_001;
    await expect(counting.verify(forged(unknown))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(reads).toBe(2);
    now = start + 2 * dayMs;
    await expect(counting.verify(token!)).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
  });
});
