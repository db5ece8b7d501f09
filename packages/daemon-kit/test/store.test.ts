import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, readFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { HistoryMessage } from '../src/history.ts';
import { openStore } from '../src/store.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());
const onlyFile = (folder: string) => join(folder, readdirSync(folder)[0] ?? '');
/** This many local messages. */
const elsewhere = (count: number): HistoryMessage[] =>
  Array.from({ length: count }, (_, index) => ({
    uuid: `00000000-0000-5000-8000-${`${index}`.padStart(12, '0')}`,
    role: 'AGENT',
    content: `words ${index}`,
    timestamp: '2026-01-01T00:00:00.000Z',
  }));

const items = (messages: readonly HistoryMessage[]) =>
  messages.map((message) => ({ ...message, part: { kind: message.role === 'USER' ? 'user' : 'text' } }));

describe('the message store', () => {
  it('returns the messages after a restart, with the same uuids and times', () => {
    const folder = folders.make();
    const before = openStore(folder);
    before.create('s1', '/project');
    before.append('s1', 'USER', 'Hello');
    before.append('s1', 'AGENT', 'Hi\nthere');
    const said = before.messages('s1');
    const after = openStore(folder);
    expect(after.messages('s1')).toEqual(said);
    expect(said?.map(({ role, content }) => [role, content])).toEqual([
      ['USER', 'Hello'],
      ['AGENT', 'Hi\nthere'],
    ]);
    expect(after.sessions()).toEqual(before.sessions());
  });

  it('lists title, path, last message, count and time of each session, newest activity first', () => {
    let now = Date.parse('2026-01-01T00:00:00.000Z');
    const store = openStore(folders.make(), () => (now += 1000));
    store.create('old', '/a');
    store.append('old', 'USER', `\n  First line ${'x'.repeat(200)}\nsecond line`);
    store.create('new', '/b');
    store.append('new', 'USER', 'x');
    store.append('new', 'AGENT', 'é'.repeat(3000));
    const [first, second] = store.sessions();
    expect(first).toMatchObject({ sessionId: 'new', projectPath: '/b', messageCount: 2 });
    expect(Buffer.byteLength(first?.lastMessage ?? '')).toBe(2048);
    expect(first?.lastActivity).toBe(new Date(now).toISOString());
    expect(second?.title).toBe(`First line ${'x'.repeat(69)}`);
  });

  it('survives a truncated line after a crash: the rest can be read, and the next message starts a new line', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s1', '');
    store.append('s1', 'USER', 'one');
    store.append('s1', 'AGENT', 'torn');
    truncateSync(onlyFile(folder), statSync(onlyFile(folder)).size - 10);
    const again = openStore(folder);
    expect(again.unreadable).toBe(1);
    again.append('s1', 'USER', 'two');
    expect(
      openStore(folder)
        .messages('s1')
        ?.map(({ content }) => content),
    ).toEqual(['one', 'two']);
  });

  it('skips unknown rows and keeps the rest', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s1', '');
    appendFileSync(onlyFile(folder), 'null\n{"m":{"uuid":1}}\n[]\n"x"\n\u0000\u0000\n');
    store.append('s1', 'USER', 'still here');
    const again = openStore(folder);
    expect(again.messages('s1')?.map(({ content }) => content)).toEqual(['still here']);
    expect(again.unreadable).toBe(5);
  });

  it('adds local messages in order, each once, even if they are offered again', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s1', '');
    const messages = elsewhere(3000);
    expect(store.take('s1', items(messages.slice(0, 1000)))).toBe(1000);
    expect(store.take('s1', items([...messages, ...messages]))).toBe(2000);
    expect(store.take('s1', items(messages))).toBe(0);
    expect(store.messages('s1')).toEqual(messages);
    expect(store.session('s1')).toMatchObject({ messageCount: 3000, lastMessage: 'words 2999' });
    expect(openStore(folder).sessions()).toEqual(store.sessions());
  });

  it('returns the first of many messages after a crash while adding them, and adds the others later', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s1', '');
    store.take('s1', items(elsewhere(100)));
    truncateSync(onlyFile(folder), Math.floor(statSync(onlyFile(folder)).size / 2));
    const again = openStore(folder);
    const kept = again.messages('s1') ?? [];
    expect(again.unreadable).toBe(1);
    expect(kept).toEqual(elsewhere(kept.length));
    expect(again.take('s1', items(elsewhere(100)))).toBe(100 - kept.length);
    expect(again.messages('s1')).toEqual(elsewhere(100));
  });

  it('makes its files readable for their owner only', () => {
    const folder = join(folders.make(), 'sessions');
    const store = openStore(folder);
    store.create('s1', '');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(onlyFile(folder)).mode & 0o777).toBe(0o600);
  });

  it.each(['../../etc/passwd', 'a/b:c', '.', '..', 'UPPER', 'upper', 'x'.repeat(512), 'ünïcode', 'con*?'])(
    'keeps a session named %s inside its folder',
    (sessionId) => {
      const folder = folders.make();
      const store = openStore(folder);
      store.create(sessionId, '');
      store.append(sessionId, 'USER', sessionId);
      expect(readdirSync(folder)).toHaveLength(1);
      expect(openStore(folder).messages(sessionId)?.[0]?.content).toBe(sessionId);
    },
  );

  it('distinguishes names that differ only in case, even on file systems that do not', () => {
    const folder = folders.make();
    const store = openStore(folder);
    for (const id of ['abc', 'ABC', 'Abc']) store.create(id, '');
    expect(new Set(readdirSync(folder).map((name) => name.toLowerCase())).size).toBe(3);
  });

  it('returns nothing for an unknown session', () => {
    const store = openStore(folders.make());
    expect(store.messages('nobody')).toBeUndefined();
    expect(store.session('nobody')).toBeUndefined();
    expect(() => store.append('nobody', 'USER', 'x')).toThrow(TypeError);
  });

  it('only ever adds to a file', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s1', '');
    store.append('s1', 'USER', 'one');
    const before = readFileSync(onlyFile(folder), 'utf8');
    openStore(folder).append('s1', 'AGENT', 'two');
    expect(readFileSync(onlyFile(folder), 'utf8').startsWith(before)).toBe(true);
  });
});
