/** Contents that items only name: images, and whole outputs of tools, on disk and for a relay that asks. */
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Item, transcriptLimits } from '@relay/protocol';
import type { Agent, Outside, PastUpdate, Turn, TurnReport } from '../src/index.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';
import { openContents } from '../src/contents.ts';
import { fileNameOf, openStore } from '../src/store.ts';
import { echo, house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

/** An agent whose turns do this work, and complete. */
const doing = (work: (report: TurnReport, turn: Turn) => void): Agent => ({
  tellsUpdates: true,
  capabilities: ['images'],
  start(turn, report) {
    work(report, turn);
    report.complete('Done.');
    return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
  },
});
const told = (report: TurnReport, update: object) => report.update?.(update as Record<string, unknown>);
const ran = (report: TurnReport, ...pieces: string[]) => {
  told(report, { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Print', status: 'in_progress' });
  for (const data of pieces)
    told(report, { sessionUpdate: 'tool_call_update', toolCallId: 'c', _meta: { terminal_output_delta: { data } } });
  told(report, { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed' });
};

async function after(agent: Agent, { images, ...options }: { images?: string[]; storeDir?: string } = {}) {
  const relay = await home.relay({ declares: ['transcript', 'prompts'] });
  const storeDir = options.storeDir ?? home.folder();
  const daemon = home.daemon(relay, agent, { storeDir });
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'Go', ...(images ? { images } : {}) });
  const { session_id: id } = await connection.event('TASK_COMPLETE', 't1');
  return { relay, daemon, connection, storeDir, sessionId: id ?? '' };
}
const itemsOf = async (connection: DoubleConnection, sessionId: string) => {
  connection.send({ type: 'get_messages', request_id: 'p', session_id: sessionId, limit: 50, parts: true });
  return ((await connection.frame('messages')).messages ?? []) as Item[];
};
const ask = async (connection: DoubleConnection, at: { session_id: string; uuid: string; name: string }, more = {}) => {
  connection.send({ type: 'content_request', request_id: 'c', offset: 0, limit: 1024 * 1024, ...at, ...more });
  return connection.frame('content_response');
};
const decoded = (data: string | null | undefined) => Buffer.from(data ?? '', 'base64');

describe('the whole output of a tool', () => {
  const lines = (from: number) => Array.from({ length: 500 }, (_, n) => `line ${from + n} of ä whole\n`).join('');
  const pieces = [0, 500, 1000, 1500, 2000].map(lines);

  it('can be fetched in pieces by the name in its part, even after a restart', async () => {
    const { relay, daemon, connection, storeDir, sessionId } = await after(doing((report) => ran(report, ...pieces)));
    const item = (await itemsOf(connection, sessionId)).find(({ part }) => part.kind === 'tool')!;
    expect(item.part).toMatchObject({ data: 'output' });
    expect(Number(item.part.left)).toBeGreaterThan(0);
    await daemon.stop();
    home.daemon(
      relay,
      doing(() => undefined),
      { storeDir },
    );
    const again = await relay.connection();
    const at = { session_id: sessionId, uuid: item.uuid, name: String(item.part.data) };
    const found: Buffer[] = [];
    for (let offset = 0; ; offset += 20_000) {
      const { data, size, mime } = await ask(again, at, { offset, limit: 20_000 });
      expect([mime, size]).toEqual(['text/plain', Buffer.byteLength(pieces.join(''))]);
      if (data === '') break;
      found.push(decoded(data));
    }
    expect(Buffer.concat(found).toString('utf8')).toBe(pieces.join(''));
  });

  it('is not stored separately while its part has all of it', async () => {
    const { connection, sessionId } = await after(doing((report) => ran(report, 'short')));
    const item = (await itemsOf(connection, sessionId)).find(({ part }) => part.kind === 'tool')!;
    expect([item.part.output, 'data' in item.part]).toEqual(['short', false]);
    expect(await ask(connection, { session_id: sessionId, uuid: item.uuid, name: 'output' })).toMatchObject({
      code: 'CONTENT_NOT_FOUND',
    });
  });

  it('is stored up to its bound, and marked as cut', async () => {
    const much = Array.from({ length: 24 }, () => 'ä'.repeat(32 * 1024));
    const { connection, sessionId } = await after(doing((report) => ran(report, ...much, 'and more')));
    const item = (await itemsOf(connection, sessionId)).find(({ part }) => part.kind === 'tool')!;
    const { size, cut, data } = await ask(connection, { session_id: sessionId, uuid: item.uuid, name: 'output' });
    expect([size, cut]).toEqual([transcriptLimits.keptOutputBytes, true]);
    expect(decoded(data).toString('utf8')).not.toContain('\ufffd');
  });

  it('is complete in its part again after a short one replaces it', async () => {
    const content = (words: string) => ({ content: [{ type: 'content', content: { type: 'text', text: words } }] });
    const { connection, sessionId } = await after(
      doing((report) => {
        told(report, { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'x', status: 'in_progress' });
        told(report, { sessionUpdate: 'tool_call_update', toolCallId: 'c', ...content(pieces.join('')) });
        told(report, { sessionUpdate: 'tool_call_update', toolCallId: 'c', ...content('short'), status: 'completed' });
      }),
    );
    const { part } = (await itemsOf(connection, sessionId)).find(({ part }) => part.kind === 'tool')!;
    expect([part.output, part.left, part.data]).toEqual(['short', undefined, undefined]);
  });

  it('does not fail the turn if it cannot be stored', async () => {
    const storeDir = home.folder();
    const { connection, sessionId } = await after(
      doing((report, { sessionId }) => {
        writeFileSync(join(storeDir, 'sessions', `${fileNameOf(sessionId)}.d`), 'in the way');
        ran(report, ...pieces);
      }),
      { storeDir },
    );
    const item = (await itemsOf(connection, sessionId)).find(({ part }) => part.kind === 'tool')!;
    expect(item.part.status).toBe('completed');
    expect(await ask(connection, { session_id: sessionId, uuid: item.uuid, name: 'output' })).toMatchObject({
      code: 'CONTENT_NOT_FOUND',
    });
  });
});

describe('an image', () => {
  it('of the person and of the agent can be fetched by its name', async () => {
    const { connection, sessionId } = await after(
      doing((report) =>
        told(report, {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'image', mimeType: 'image/png', data: pixel },
        }),
      ),
      { images: [`data:image/png;base64,${pixel}`] },
    );
    const [user, image] = await itemsOf(connection, sessionId);
    const bytes = decoded(pixel).length;
    expect(user!.part.images).toEqual([{ data: 'image1', mime: 'image/png', bytes }]);
    expect(image!.part).toEqual({ kind: 'image', data: 'image', mime: 'image/png', bytes });
    for (const [item, name] of [[user!, 'image1'] as const, [image!, 'image'] as const])
      expect(await ask(connection, { session_id: sessionId, uuid: item.uuid, name })).toMatchObject({
        mime: 'image/png',
        size: bytes,
        data: pixel,
      });
  });

  it('of a kind that no page shows is not stored, and its item names no content', async () => {
    const svg = Buffer.from('<svg/>').toString('base64');
    const { connection, sessionId } = await after(
      doing((report) =>
        told(report, {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'image', mimeType: 'image/svg+xml', data: svg },
        }),
      ),
    );
    const item = (await itemsOf(connection, sessionId)).find(({ part }) => part.kind === 'image')!;
    expect(item.part).toMatchObject({ data: '', mime: 'image/svg+xml', bytes: 6 });
  });
});

describe('a session that was started locally', () => {
  it('stores the contents of its items, and restores them from the files of the agent', async () => {
    const output = Array.from({ length: 3000 }, (_, n) => `line ${n}\n`).join('');
    const past = (update: object, n: number): PastUpdate => ({
      update: update as PastUpdate['update'],
      at: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
    });
    const call = { toolCallId: 'c', title: 'Print' };
    const content = [{ type: 'content', content: { type: 'text', text: output } }];
    const image = { type: 'image', mimeType: 'image/png', data: pixel };
    const updates = [
      { sessionUpdate: 'user_message_chunk', messageId: 'm1', content: { type: 'text', text: 'Go' } },
      { sessionUpdate: 'tool_call', ...call, status: 'in_progress' },
      { sessionUpdate: 'tool_call_update', ...call, content, status: 'completed' },
      { sessionUpdate: 'agent_message_chunk', content: image },
      { sessionUpdate: 'agent_message_chunk', messageId: 'm2', content: { type: 'text', text: 'Done.' } },
    ].map(past);
    const outside: Outside = {
      sessions: () => [],
      stamp: (sessionId) => (sessionId === 'desk' ? '1' : undefined),
      read: (sessionId) => (sessionId === 'desk' ? { projectPath: '/', updates, open: false, start: 0 } : undefined),
    };
    const relay = await home.relay({ declares: ['transcript', 'prompts'] });
    const storeDir = home.folder();
    const first = home.daemon(relay, echo(), { storeDir, outside });
    const connection = await relay.connection();
    const items = await itemsOf(connection, 'desk');
    expect(items.map(({ part }) => [part.kind, part.data])).toEqual([
      ['user', undefined],
      ['tool', 'output'],
      ['image', 'image'],
      ['text', undefined],
    ]);
    const read = async (from: DoubleConnection) => {
      const [, tool, picture] = items;
      const text = await ask(from, { session_id: 'desk', uuid: tool!.uuid, name: 'output' });
      const { data } = await ask(from, { session_id: 'desk', uuid: picture!.uuid, name: 'image' });
      return [decoded(text.data).toString('utf8') === output, data === pixel];
    };
    expect(await read(connection)).toEqual([true, true]);
    await first.stop();
    rmSync(join(storeDir, 'sessions', `${fileNameOf('desk')}.d`), { recursive: true });
    home.daemon(relay, echo(), { storeDir, outside });
    const again = await relay.connection();
    expect(await read(again)).toEqual([true, true]);
    expect(readdirSync(join(storeDir, 'sessions', `${fileNameOf('desk')}.d`))).toHaveLength(2);
    expect(await ask(again, { session_id: 'desk', uuid: items[0]!.uuid, name: 'image1' })).toMatchObject({
      code: 'CONTENT_NOT_FOUND',
    });
  });
});

describe('a daemon with `--transcript off`', () => {
  it('declares no content, and returns an error', async () => {
    const relay = await home.relay({ declares: ['transcript', 'prompts'] });
    home.daemon(
      relay,
      doing((report) => ran(report, 'x'.repeat(20_000))),
      { transcript: { detail: 'off' } },
    );
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).not.toContain('content');
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'Go' });
    const { session_id: id } = await connection.event('TASK_COMPLETE', 't1');
    const tool = (await itemsOf(connection, id ?? '')).find(({ part }) => part.kind === 'tool')!;
    expect(await ask(connection, { session_id: id ?? '', uuid: tool.uuid, name: 'output' })).toMatchObject({
      code: 'CONTENT_NOT_FOUND',
    });
  });
});

describe('the contents on the disk', () => {
  const opened = (folder: string, bounds = { sessionBytes: 30_000, allBytes: 50_000 }) =>
    openContents({ folder, nameOf: fileNameOf, bounds });
  const session = (folder: string, sessionId: string) => openStore(folder).create(sessionId, '/');
  const at = (sessionId: string, uuid: string) => ({ sessionId, uuid, name: 'output' });
  const text = 'x'.repeat(5900);

  it('belong to their owner, and are removed for newer ones: first within the session, then across all', () => {
    const folder = home.folder();
    for (const id of ['a', 'b', 'c']) session(folder, id);
    const contents = opened(folder);
    const has = (sessionId: string, uuid: string) => contents.read(at(sessionId, uuid), 0, 1) !== undefined;
    for (const uuid of ['1', '2', '3', '4']) contents.output(at('a', uuid), text, true);
    expect(['1', '2', '3', '4'].map((uuid) => has('a', uuid))).toEqual([false, true, true, true]);
    for (const id of ['b', 'c']) contents.output(at(id, '1'), text, true);
    expect([has('a', '2'), has('a', '3'), has('b', '1'), has('c', '1')]).toEqual([true, true, true, true]);
    contents.output(at('c', '2'), text, true);
    expect([has('a', '2'), has('a', '3'), has('c', '2')]).toEqual([false, true, true]);
    for (const name of readdirSync(join(folder, 'a.d')))
      expect(statSync(join(folder, 'a.d', name)).mode & 0o777).toBe(0o600);
  });

  it('are erased with their session', () => {
    const folder = home.folder();
    session(folder, 'a');
    opened(folder).output(at('a', '1'), text, true);
    rmSync(join(folder, 'a.jsonl'));
    expect(opened(folder).read(at('a', '1'), 0, 1)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are stored only from their first byte on', () => {
    const folder = home.folder();
    session(folder, 'a');
    const contents = opened(folder);
    contents.output(at('a', '1'), text, false);
    expect(contents.read(at('a', '1'), 0, 1)).toBeUndefined();
    contents.output(at('a', '1'), text, true);
    expect(contents.read(at('a', '1'), 5890, 100)?.bytes.toString()).toBe('x'.repeat(10));
    expect(contents.read(at('a', '1'), 9000, 100)).toMatchObject({ size: 5900, bytes: Buffer.alloc(0) });
  });
});
