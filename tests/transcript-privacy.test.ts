/** Promises: the relay neither stores nor logs parts of a transcript (ADR 35), and no metric has the id of a person, device, session or task. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { dumpDatabase, pathOf } from './erasure-scene.ts';

const secret = 'SQUIRREL';

let relay: TestRelay;
let daemon: TestDaemon;
let app: TestApp;
const log: string[] = [];

beforeAll(async () => {
  relay = await startRelay({
    // The malformed replies wait for its end; all others have to come within it, on a busy machine too.
    config: { logLevel: 'debug', daemonReplyTimeoutMs: 3_000 },
    log: { write: (line) => void log.push(line) },
  });
  daemon = await connectDaemon(relay, {
    capabilities: ['transcript', 'content', 'changes', 'browse', 'usage', 'spending', 'files'],
  });
  app = await connectApp(relay, { transcript: true, output: true });
});
afterAll(() => relay.stop());

it('no name and no byte of a file reaches the database or the log, not even from refused pieces', async () => {
  const fileId = '01KKNT3B6Q4M8Z1R5T7YB3C6DE';
  const params = { id: daemon.deviceId };
  const bytes = Buffer.from(secret.repeat(10));
  const opened = relay.call('sendFile', {
    params,
    body: { fileId, name: `${secret}.csv`, size: bytes.length, mime: `text/${secret}` },
  });
  const answer = async (type: 'file_open' | 'file_piece', fields: object) => {
    const { request_id: id } = await daemon.next(type);
    daemon.send({ type: 'file_result', request_id: id, ...fields });
  };
  await answer('file_open', { received: 0, done: false, name: `${secret}.csv` });
  expect((await opened).body).toMatchObject({ received: 0 });
  const path = `/api/devices/${daemon.deviceId}/files/${fileId}?offset=0`;
  const headers = { 'Content-Type': 'application/octet-stream' };
  for (const fields of [
    { received: bytes.length, done: true, sha256: secret },
    { code: secret, error: secret },
    { received: secret },
  ]) {
    const sent = relay.call('PUT', path, { raw: bytes, headers });
    await answer('file_piece', fields);
    await sent;
  }
  await relay.call('PUT', path, { raw: bytes, headers: { 'Content-Type': 'text/plain' } });
  const body = { deviceId: daemon.deviceId, message: 'with a file', files: [fileId] };
  const created = await relay.call('createSession', { body });
  expect(await daemon.next('task_start')).toMatchObject({ files: [fileId] });
  expect(await dumpDatabase(relay)).toContain(fileId);
  daemon.event(created.body.taskId, 'TASK_COMPLETE', { session_id: 'file', result: 'read' });
  await app.next('new_message', ({ message }) => (message as { content: string }).content === 'read');
  const kept = `${await dumpDatabase(relay)}${log.join('\n')}`;
  expect(kept).not.toContain(secret);
  expect(kept).not.toContain(bytes.toString('base64').slice(0, 40));
});

it('no text of a transcript reaches the database or the log, not even from refused frames and pages', async () => {
  const created = await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'hello' } });
  const { taskId } = created.body as { taskId: string };
  await daemon.next('task_start');
  const item = (n: number) => ({
    uuid: `u${n}`,
    seq: n,
    role: 'AGENT',
    content: `${secret} ${n}`,
    timestamp: '2026-01-01T00:00:00.000Z',
    part: { kind: 'tool', id: 't', title: secret, status: 'running', command: `cat ${secret}`, output: secret },
  });
  daemon.transcript(taskId, 'native', [{ op: 'put', item: item(1) }, { op: 'add', uuid: 'u1', text: secret }]); // prettier-ignore
  const heard = await app.next('transcript');
  expect(JSON.stringify(heard)).toContain(secret);
  // The gateway refuses these: too long, of a wrong shape, without a version.
  daemon.transcript(taskId, 'native', [{ op: 'add', uuid: 'u1', text: secret.repeat(20_000) }]);
  daemon.transcript(taskId, 'native', [secret]);
  daemon.send({ type: 'event', event_type: 'TRANSCRIPT', task_id: taskId, session_id: 'native', ops: [{ secret }] });
  daemon.transcript('', 'desk', [{ op: 'put', item: item(2) }]);
  await app.next('transcript', ({ sessionId }) => String(sessionId).endsWith(':desk'));
  for (const fields of [
    { v: 7, messages: [item(1)] },
    { v: 7, messages: [{ secret }] },
    { v: 7, messages: Array.from({ length: 40 }, (_, n) => ({ ...item(n), content: secret.repeat(10_000) })) },
  ]) {
    const answer = relay.call('GET', pathOf(heard.sessionId as string, '/messages?parts=1'));
    const { request_id } = await daemon.next('get_messages');
    daemon.send({ type: 'messages', request_id, session_id: 'native', ...fields });
    await answer;
  }
  const data = Buffer.from(secret.repeat(100)).toString('base64');
  for (const [offset, fields] of [
    { mime: 'text/plain', size: 800, data },
    { mime: secret, size: secret, data },
    { error: secret },
    { code: secret, error: secret },
  ].entries()) {
    const params = { id: heard.sessionId as string, uuid: 'u1', name: 'output' };
    const answer = relay.call('readContent', { params, query: { offset } });
    const { request_id } = await daemon.next('content_request');
    daemon.send({ type: 'content_response', request_id, session_id: 'native', ...fields });
    // A malformed reply does not settle the request: it times out.
    await answer;
  }
  daemon.event(taskId, 'TASK_COMPLETE', { result: 'the end', message_uuid: 'u9' });
  await app.next('new_message', ({ message }) => (message as { uuid: string }).uuid === 'u9');
  // These texts prove that both searches work.
  expect(await dumpDatabase(relay)).toContain('the end');
  expect(log.join('\n')).toContain('wrong fields');
  expect(await dumpDatabase(relay)).not.toContain(secret);
  expect(log.join('\n')).not.toContain(secret);
  expect(`${await dumpDatabase(relay)}${log.join('\n')}`).not.toContain(data.slice(0, 40));
  const metrics = await Promise.all([...relay.apis, ...relay.gateways].map((instance) => instance.metrics.text()));
  for (const name of ['relay_daemon_connections', 'relay_app_connections']) expect(metrics.join('\n')).toContain(name);
  for (const id of [daemon.deviceId, heard.sessionId as string, taskId, 'alice', secret, 'native', '127.0.0.1'])
    expect(metrics.join('\n')).not.toContain(id);
});

it('no path or content of a file reaches the database or the log, not even from refused answers', async () => {
  const created = await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'hello' } });
  const { taskId } = created.body as { taskId: string };
  daemon.event(taskId, 'SESSION_STARTED', { session_id: 'files' });
  const id = `${daemon.deviceId}:${daemon.registration.agentType}:files`;
  await app.next('session_update', ({ session }) => (session as { id: string }).id === id);
  const path = `${secret}/${secret}.ts`;
  const change = { path, change: 'edit', added: 1, removed: 1 };
  const hunks = [{ old: 1, new: 1, lines: [`+${secret}`] }];
  const questions = [
    ['readChanges', {}, 'get_changes', 'changes', { scope: 'uncommitted', scopes: [], root: path, files: [change] }],
    ['readDiff', { path }, 'get_diff', 'diff', { path, change, hunks }],
    ['listFiles', { find: secret }, 'get_files', 'files', { path, entries: [{ name: secret, path, kind: 'file' }] }],
    ['readFile', { path }, 'get_file', 'file', { path, kind: 'text', bytes: 8, text: secret }],
  ] as const;
  for (const fields of [
    undefined,
    { files: secret, hunks: secret, entries: secret, bytes: secret },
    { code: secret, error: secret },
  ])
    await Promise.all(
      questions.map(async ([name, query, asked, type, answer]) => {
        const answered = relay.call(name, { params: { id }, query });
        const { request_id } = await daemon.next(asked);
        daemon.send({ type, request_id, ...(fields ?? answer) });
        const { status, body } = await answered;
        if (fields === undefined) expect([status, JSON.stringify(body).includes(secret)]).toEqual([200, true]);
      }),
    );
  expect(await dumpDatabase(relay)).not.toContain(secret);
  expect(log.join('\n')).not.toContain(secret);
});

it('43: no figure of use reaches the database, the log or a metric', async () => {
  const created = await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'hello' } });
  const { taskId } = created.body as { taskId: string };
  const [used, size, amount] = [314_159, 2_718_281, 1618.0339];
  const cost = { amount, currency: 'USD' };
  const about = { uuid: 'used', seq: 1, role: 'AGENT', content: '', timestamp: '2026-01-01T00:00:00.000Z' };
  daemon.event(taskId, 'SESSION_STARTED', { session_id: 'figures' });
  daemon.transcript(taskId, 'figures', [{ op: 'put', item: { ...about, part: { kind: 'usage', used, size, cost } } }]);
  const shown = await app.next('transcript', ({ sessionId }) => String(sessionId).endsWith(':figures'));
  expect(JSON.stringify(shown)).toContain(String(amount));
  const context = relay.call('readContext', { params: { id: shown.sessionId as string } });
  const { request_id } = await daemon.next('usage_request');
  const usage = { used_tokens: used, max_tokens: size, cost };
  daemon.send({ type: 'usage_response', request_id, session_id: 'figures', usage });
  expect(JSON.stringify((await context).body)).toContain(String(amount));
  const range = { from: '2026-03-01', to: '2026-03-02', zone: 'UTC' };
  const days = relay.call('readUsage', { params: { id: daemon.deviceId }, query: range });
  const asked = await daemon.next('spending_request');
  const day = { day: '2026-03-01', agent_type: 'claude', turns: 1, cost, tokens: used };
  daemon.send({ type: 'spending_response', request_id: asked.request_id, days: [day], since: about.timestamp });
  expect(JSON.stringify((await days).body)).toContain(String(amount));
  const metrics = await Promise.all([...relay.apis, ...relay.gateways].map((instance) => instance.metrics.text()));
  const kept = [await dumpDatabase(relay), ...log, ...metrics].join('\n');
  expect(kept).toContain('figures');
  for (const figure of [used, size, amount]) expect(kept).not.toContain(String(figure));
});
