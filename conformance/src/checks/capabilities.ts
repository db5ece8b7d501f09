/** Abilities of some daemons only: images, slash commands, context (rules, 10.1: a daemon never gets a frame that it does not know). */
import { type Check, rule } from '../check.ts';
import { daemonHeaders } from '../daemon.ts';
import { must, same } from '../expect.ts';
import type { World } from '../world.ts';

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

/** A daemon with a device of its own, connected and idle, that declares these capabilities. */
export async function declaring(world: World, capabilities: string) {
  const device = await world.device('capable');
  const headers = { ...daemonHeaders(device), 'X-Daemon-Capabilities': capabilities };
  const daemon = await world.open(device, { headers, name: 'the capable daemon' });
  daemon.status([]);
  return daemon;
}

export const capabilities: readonly Check[] = [
  rule('10.7', 'images reach a daemon that declared that it takes them, as they were sent', async (world) => {
    const daemon = await declaring(world, 'images, something-else');
    const session = await world.session({}, daemon);
    const { body: listed } = await world.rest.ok('listDevices');
    const shown = listed.devices.find(({ id }) => id === daemon.device.id);
    same(shown?.capabilities, ['images', 'something-else'], 'capabilities of the device');
    const body = { content: 'look', images: [pixel] };
    const sent = await world.rest.ok('sendMessage', { params: { id: session.id }, body });
    const { inbox } = daemon;
    const frame = await inbox.until('task_resume', ({ task_id }) => task_id === sent.body.taskId);
    same(frame.images, [pixel], 'images');
    daemon.event(frame.task_id, 'TASK_COMPLETE', { session_id: session.native, result: 'seen' });
    await world.caughtUp(session, daemon);
    await daemon.close();
  }),
  rule('10.7', 'images for a daemon known not to take them are refused, and it gets nothing', async (world) => {
    const daemon = await declaring(world, 'usage');
    const session = await world.session({}, daemon);
    const from = daemon.inbox.mark();
    const params = { id: session.id };
    const body = { content: 'look', images: [pixel] };
    await world.rest.refused('sendMessage', 'NOT_SUPPORTED_BY_DEVICE', { params, body });
    const { id } = await world.task(session, undefined, daemon);
    const tasks = daemon.inbox.all('task_resume', ({ session_id }) => session_id === session.native, from);
    same(
      tasks.map(({ task_id }) => task_id),
      [id],
      'the only task of the session',
    );
    must(!('images' in tasks[0]!), 'it has no images');
    daemon.event(id, 'TASK_COMPLETE', { session_id: session.native, result: 'done' });
  }),
  rule('6.23', 'an image that is not what it says is refused with its number', async (world) => {
    const { id } = await world.session();
    const images = [pixel, pixel.replace('image/png', 'image/gif')];
    const { body } = await world.rest.refused('sendMessage', 'INVALID_IMAGE', {
      params: { id },
      body: { content: 'look', images },
    });
    must(JSON.stringify(body).includes('Image 2 of 2'), 'the error names the second image');
  }),
  rule('10.9', 'report_slash_commands is what GET /api/sessions/:id/commands answers', async (world) => {
    const daemon = await world.desk();
    const session = await world.session();
    const params = { id: session.id };
    same((await world.rest.ok('listCommands', { params })).body, { commands: [] }, 'commands before any report');
    const commands = [{ name: '/compact', description: 'Summarise', input_hint: 'what to keep' }, { name: 'review' }];
    daemon.send({ type: 'report_slash_commands', session_id: session.native, commands });
    await world.caughtUp(session);
    same(
      (await world.rest.ok('listCommands', { params })).body.commands,
      [
        { name: 'compact', description: 'Summarise', inputHint: 'what to keep' },
        { name: 'review', description: '' },
      ],
      'commands',
    );
  }),
  rule('10.10', 'the context of a session is asked of a daemon that declared it, and of no other', async (world) => {
    const plain = await world.session();
    await world.rest.refused('readContext', 'NOT_SUPPORTED_BY_DEVICE', { params: { id: plain.id } });
    const daemon = await declaring(world, 'usage');
    const { id, native } = await world.session({}, daemon);
    const answer = world.rest.ok('readContext', { params: { id } });
    const asked = await daemon.inbox.until('usage_request', ({ session_id }) => session_id === native);
    const context = { used_tokens: 12, max_tokens: 34, more: true };
    daemon.send({ type: 'usage_response', request_id: asked.request_id, session_id: native, usage: context });
    const { body } = await answer;
    same([body.sessionId, body.usedTokens, body.maxTokens, body.details], [id, 12, 34, context], 'the context');
    same((await world.desk()).inbox.all('usage_request').length, 0, 'requests to the other daemon');
    await daemon.close();
  }),
  rule(
    '10.13',
    'the settings of a session are asked of a daemon that declared it, changed there, and told to apps',
    async (world) => {
      const plain = await world.session();
      await world.rest.refused('readSettings', 'SETTINGS_NOT_SUPPORTED', { params: { id: plain.id } });
      const daemon = await declaring(world, 'settings');
      const { id, native } = await world.session({}, daemon);
      const option = (name: string) => ({ id: name, name });
      const mode = { id: 'mode', kind: 'mode', name: 'Mode', value: 'ask', options: [option('ask'), option('code')] };
      const asked = () => daemon.inbox.until('settings_request', ({ session_id }) => session_id === native, { from });
      let from = daemon.inbox.mark();
      const read = world.rest.ok('readSettings', { params: { id } });
      const { request_id } = await asked();
      daemon.send({ type: 'settings_response', request_id, session_id: native, settings: [mode] });
      same((await read).body, { sessionId: id, settings: [mode] }, 'the settings');
      const change = { id: 'mode', value: 'code' };
      from = daemon.inbox.mark();
      const changed = world.rest.ok('changeSetting', { params: { id }, body: change });
      const request = await asked();
      same(request.change, change, 'the change');
      const now = [{ ...mode, value: 'code' }];
      daemon.send({ type: 'settings_response', request_id: request.request_id, session_id: native, settings: now });
      same((await changed).body.settings, now, 'the settings afterwards');
      from = daemon.inbox.mark();
      const refused = world.rest.refused('changeSetting', 'INVALID_SETTING', { params: { id }, body: change });
      const last = await asked();
      const error = { code: 'INVALID_SETTING', error: 'no' };
      daemon.send({ type: 'settings_response', request_id: last.request_id, session_id: native, ...error });
      await refused;
      await daemon.close();
    },
  ),
  rule('10.16', 'what an item names is asked of a daemon that declared it, in pieces', async (world) => {
    const plain = await world.session();
    const at = { uuid: 'an-item', name: 'output' };
    await world.rest.refused('readContent', 'NOT_SUPPORTED_BY_DEVICE', { params: { id: plain.id, ...at } });
    const daemon = await declaring(world, 'transcript, content');
    const { id, native } = await world.session({}, daemon);
    const params = { id, ...at };
    let from = daemon.inbox.mark();
    const asked = () => daemon.inbox.until('content_request', ({ session_id }) => session_id === native, { from });
    const read = world.rest.ok('readContent', { params, query: { offset: 3, limit: 3 } });
    const { request_id, uuid, name, offset, limit } = await asked();
    same([uuid, name, offset, limit], ['an-item', 'output', 3, 3], 'uuid, name, offset, limit');
    const piece = { mime: 'text/plain', size: 7, data: btoa('def') };
    daemon.send({ type: 'content_response', request_id, session_id: native, ...piece });
    same((await read).body, { sessionId: id, ...at, offset: 3, ...piece, next: 6 }, 'the piece');
    from = daemon.inbox.mark();
    const gone = world.rest.refused('readContent', 'CONTENT_NOT_FOUND', { params });
    const last = await asked();
    const error = { code: 'CONTENT_NOT_FOUND', error: 'removed' };
    daemon.send({ type: 'content_response', request_id: last.request_id, session_id: native, ...error });
    await gone;
    await daemon.close();
  }),
  rule(
    '6.26',
    'folders are asked of a daemon that declared it, and a folder that it does not show is none',
    async (world) => {
      const plain = await world.desk();
      const query = { path: '/home' };
      await world.rest.refused('listFolders', 'NOT_SUPPORTED_BY_DEVICE', { params: { id: plain.device.id }, query });
      const daemon = await declaring(world, 'browse');
      const params = { id: daemon.device.id };
      let from = daemon.inbox.mark();
      const asked = () => daemon.inbox.until('get_folders', () => true, { from });
      const read = world.rest.ok('listFolders', { params, query });
      const { request_id, path } = await asked();
      same(path, '/home', 'path');
      const folder = { path: '/home', parent: '', folders: [{ name: 'ada', path: '/home/ada' }] };
      daemon.send({ type: 'folders', request_id, ...folder });
      same((await read).body.browsed, folder, 'the folder');
      from = daemon.inbox.mark();
      const gone = world.rest.refused('listFolders', 'FOLDER_NOT_FOUND', { params, query });
      const last = await asked();
      daemon.send({ type: 'folders', request_id: last.request_id, code: 'FOLDER_NOT_FOUND', error: 'none' });
      await gone;
      await daemon.close();
    },
  ),
  rule('6.28', 'a search in transcripts is asked of a daemon that declared it', async (world) => {
    const plain = await world.desk();
    const query = { q: 'roses water' };
    await world.rest.refused('searchMessages', 'NOT_SUPPORTED_BY_DEVICE', { params: { id: plain.device.id }, query });
    const daemon = await declaring(world, 'search');
    const from = daemon.inbox.mark();
    const read = world.rest.ok('searchMessages', { params: { id: daemon.device.id }, query });
    const asked = await daemon.inbox.until('search_request', () => true, { from });
    same(asked.query, query.q, 'query');
    daemon.send({ type: 'search_response', request_id: asked.request_id, hits: [], more: true });
    same((await read).body, { hits: [], more: true }, 'the hits');
  }),
  rule('22.4', 'the figures of use are those of a daemon that declared them', async (world) => {
    const plain = await world.desk();
    const query = { from: '2026-03-01', to: '2026-03-30', zone: 'Europe/Paris' };
    await world.rest.refused('readUsage', 'NOT_SUPPORTED_BY_DEVICE', { params: { id: plain.device.id }, query });
    const daemon = await declaring(world, 'spending');
    // Afterwards every instance knows the capabilities of this connection.
    await world.session({}, daemon);
    const params = { id: daemon.device.id };
    const read = world.rest.ok('readUsage', { params, query });
    const { request_id, from, to, zone } = await daemon.inbox.until('spending_request', () => true);
    same({ from, to, zone }, query, 'the range');
    const day = { day: '2026-03-14', turns: 2, cost: { amount: 1.42, currency: 'USD' } };
    const since = '2026-01-02T08:00:00.000Z';
    daemon.send({ type: 'spending_response', request_id, days: [{ ...day, agent_type: 'codex' }], since });
    same((await read).body, { deviceId: params.id, days: [{ ...day, agentType: 'codex' }], since }, 'the figures');
    await daemon.close();
  }),
  rule('10.11', 'GET …/summary is what the daemon answers to context_request with include', async (world) => {
    const daemon = await world.desk();
    const { id, native } = await world.session();
    const answer = world.rest.ok('readSummary', { params: { id } });
    const asked = await daemon.inbox.until('context_request', ({ session_id }) => session_id === native);
    same(asked.include, { initial_prompt: true, recent_messages: 10, last_tool_use: true }, 'include');
    const context = {
      title: 'Garden',
      project_path: '/garden',
      recent_messages: [{ role: 'AGENT', content: 'Watered.' }],
      message_count: 3,
      last_activity_at: '2026-03-14T09:10:00Z',
      status: 'completed',
    };
    daemon.send({ type: 'context_response', request_id: asked.request_id, session_id: native, context });
    const { body } = await answer;
    same(
      [body.sessionId, body.title, body.projectPath, body.messageCount, body.lastActivityAt, body.status],
      [id, 'Garden', '/garden', 3, '2026-03-14T09:10:00.000Z', 'completed'],
      'sessionId, title, projectPath, messageCount, lastActivityAt, status',
    );
    same(body.recentMessages, [{ role: 'AGENT', content: 'Watered.' }], 'recentMessages');
  }),
  rule('10.11', 'POST …/release is force_quit_session, and answers its result', async (world) => {
    const daemon = await world.desk();
    const { id, native } = await world.session();
    const answer = world.rest.ok('releaseSession', { params: { id } });
    const { request_id } = await daemon.inbox.until('force_quit_session', ({ session_id }) => session_id === native);
    daemon.send({ type: 'force_quit_result', request_id, session_id: native, status: 'busy', detail: 'a turn runs' });
    same((await answer).body, { sessionId: id, result: 'busy', detail: 'a turn runs' }, 'the answer');
  }),
  rule('10.9', 'report_slash_commands with sets holds for the sessions of each project', async (world) => {
    const daemon = await world.desk();
    const session = await world.session({ project: '/garden' });
    const set = { project: '/garden', commands: [{ name: 'water', usage_hint: '<bed>' }] };
    daemon.send({ type: 'report_slash_commands', sets: [set] });
    await world.caughtUp(session);
    const { body } = await world.rest.ok('listCommands', { params: { id: session.id } });
    same(body.commands, [{ name: 'water', description: '', inputHint: '<bed>' }], 'commands');
    daemon.send({ type: 'report_slash_commands', sets: [] });
    await world.caughtUp(session);
  }),
  rule(
    '10.12',
    'a pong to a daemon that declared receipts says that what came before is written down',
    async (world) => {
      const daemon = await declaring(world, 'receipts');
      const session = await world.session({}, daemon);
      const { id } = await world.task(session, 'talk', daemon);
      // Enough work before it, so that a pong that does not wait comes too early.
      for (let said = 1; said <= 100; said += 1) {
        const message = { session_id: session.native, uuid: `${id}-${said}`, content: `word ${said}` };
        daemon.event(id, 'AGENT_RESPONSE', message);
      }
      daemon.event(id, 'TASK_COMPLETE', { session_id: session.native, result: 'said' });
      await daemon.live.ping();
      const { body } = await world.rest.ok('readTask', { params: { id } });
      same([body.state, body.result], ['completed', 'said'], 'the task, when the pong has come');
      await daemon.close();
    },
  ),
];
