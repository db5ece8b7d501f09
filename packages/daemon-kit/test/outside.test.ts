import { afterEach, describe, expect, it } from '@jest/globals';
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';
import type { Item } from '@relay/protocol';
import type { HistoryMessage, Outside, PastUpdate } from '../src/index.ts';
import { foreignUuid } from '@relay/protocol/identity';
import { newBehind } from '../src/outside.ts';
import { echo, house, playing } from './house.ts';

const home = house();
afterEach(() => home.clear());

/** A message that was written locally, with the id of the agent. */
interface OutsideMessage {
  id: string;
  role: 'USER' | 'AGENT';
  content: string;
  timestamp: string;
}
const told = ({ id, role, content, timestamp }: OutsideMessage): PastUpdate => ({
  at: timestamp,
  update: {
    sessionUpdate: role === 'USER' ? 'user_message_chunk' : 'agent_message_chunk',
    messageId: id,
    content: { type: 'text', text: content },
  },
});
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const theirs = (words: string, minute = 0): OutsideMessage => ({
  id: `id ${words}`,
  role: words.startsWith('agent') ? 'AGENT' : 'USER',
  content: words,
  timestamp: at(minute),
});
const itemOf = (message: HistoryMessage): Item => ({
  ...message,
  seq: 1,
  part: { kind: message.role === 'USER' ? 'user' : 'text' },
});
const ours = (words: string, minute = 0): Item =>
  itemOf({
    uuid: '11111111-1111-4111-8111-111111111111',
    role: words.startsWith('agent') ? 'AGENT' : 'USER',
    content: words,
    timestamp: at(minute),
  });
/** The stored form of such a message. */
const taken = ({ id, ...message }: OutsideMessage): Item => itemOf({ uuid: foreignUuid('desk', id), ...message });
/** A conversation with this many messages, each different or all the same. */
const talk = (count: number, from = 0, say = (turn: number) => ` ${turn}`): OutsideMessage[] =>
  Array.from({ length: count }, (_, index) => {
    const turn = from + index;
    return { ...theirs(`${turn % 2 === 0 ? 'user' : 'agent'}${say(turn)}`, turn), id: `id ${turn}` };
  });
const words = (messages: readonly { content: string }[]) => messages.map(({ content }) => content).join();

describe('local messages', () => {
  it.each<[string, [string, number][], [string, number][], string]>([
    [
      'are all new for an empty store',
      [],
      [
        ['hi', 0],
        ['agent hi', 1],
      ],
      'hi,agent hi',
    ],
    [
      'are new after the last common message',
      [
        ['hi', 0],
        ['agent hi', 1],
      ],
      [
        ['hi', 0],
        ['agent hi', 1],
        ['more', 2],
        ['agent more', 3],
      ],
      'more,agent more',
    ],
    [
      'are not new if the agent has forgotten half',
      [
        ['hi', 0],
        ['agent hi', 1],
        ['more', 2],
        ['agent x', 3],
      ],
      [
        ['hi', 0],
        ['agent hi', 1],
      ],
      '',
    ],
    [
      'are not new if the agent wrote them on the way to an answer that is stored',
      [
        ['do', 0],
        ['agent done', 9],
      ],
      [
        ['do', 1],
        ['agent first', 2],
        ['agent done', 3],
      ],
      '',
    ],
    [
      'are not new if they belong to a turn that the daemon failed',
      [
        ['do', 1],
        ['error', 9],
      ],
      [
        ['do', 2],
        ['agent half', 3],
      ],
      '',
    ],
    [
      'can repeat an earlier text',
      [
        ['ok', 0],
        ['agent ok', 1],
      ],
      [
        ['ok', 0],
        ['agent ok', 1],
        ['ok', 2],
        ['agent ok', 3],
      ],
      'ok,agent ok',
    ],
  ])('%s', (_name, mine, other, expected) => {
    const stored = mine.map(([text, minute]) => ours(text, minute));
    expect(
      words(
        newBehind(
          stored,
          other.map(([text, minute]) => taken(theirs(text, minute))),
        ),
      ),
    ).toBe(expected);
  });

  it('are all new for an empty store, in any number', () => {
    expect(newBehind([], talk(1000).map(taken))).toEqual(talk(1000).map(taken));
  });

  it('are new after the stored ones, even if no stored one is among the last messages', () => {
    expect(newBehind(talk(1000).map(taken), talk(3000).map(taken))).toEqual(talk(2000, 1000).map(taken));
  });

  it('can repeat stored texts, again and again', () => {
    const same = () => ' again';
    expect(newBehind(talk(600, 0, same).map(taken), talk(1100, 0, same).map(taken))).toEqual(
      talk(500, 600, same).map(taken),
    );
  });

  it('follow the messages of the daemon itself, in any number', () => {
    const own = talk(1000, 10);
    const stored = [...talk(10).map(taken), ...own.map(({ content, timestamp }) => ({ ...ours(content), timestamp }))];
    // A replay has only the time of the last message.
    const replayed = talk(2000).map((message) => taken({ ...message, timestamp: at(2000) }));
    expect(newBehind(stored, replayed)).toEqual(replayed.slice(1010));
  });

  it('are found by their texts if the agent has given new ids to all of them', () => {
    const renamed = talk(1200).map((message) => taken({ ...message, id: `new ${message.id}` }));
    expect(newBehind(talk(700).map(taken), renamed)).toEqual(renamed.slice(700));
  });

  it('have uuids of version 5, always equal for the same message, and different in every session', () => {
    expect(foreignUuid('s', 'm')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(foreignUuid('s', 'm')).toBe(foreignUuid('s', 'm'));
    expect(foreignUuid('t', 'm')).not.toBe(foreignUuid('s', 'm'));
  });
});

/** Local sessions that a test writes; counts their reads. */
function desk() {
  const sessions = new Map<string, { messages: OutsideMessage[]; open: boolean; version: number }>();
  let reads = 0;
  const read: Outside['read'] = (sessionId) => {
    reads++;
    const session = sessions.get(sessionId);
    return session && { projectPath: '/desk', updates: session.messages.map(told), open: session.open, start: 0 };
  };
  const outside: Outside = {
    read,
    sessions: () =>
      [...sessions].map(([sessionId, { messages, open }]) => ({
        sessionId,
        title: `title of ${sessionId}`,
        projectPath: '/desk',
        lastMessage: messages.at(-1)?.content ?? '',
        lastActivity: messages.at(-1)?.timestamp ?? at(0),
        messageCount: messages.length,
        isActive: open,
      })),
    stamp: (sessionId) => sessions.get(sessionId)?.version.toString(),
  };
  return {
    outside,
    reads: (): number => reads,
    say: (sessionId: string, messages: OutsideMessage[], open = false) => {
      const version = (sessions.get(sessionId)?.version ?? 0) + 1;
      const before = sessions.get(sessionId)?.messages ?? [];
      sessions.set(sessionId, { messages: [...before, ...messages], open, version });
    },
  };
}

/** Reads the whole history like an app: page by page, from the newest. */
async function history(connection: DoubleConnection) {
  const messages: HistoryMessage[] = [];
  for (;;) {
    const [oldest] = messages;
    const cursor = oldest && { before_uuid: oldest.uuid };
    connection.send({ type: 'get_messages', request_id: 'r', session_id: 'desk-1', limit: 200, ...cursor });
    const page = await connection.frame('messages');
    messages.unshift(...((page.messages ?? []) as HistoryMessage[]));
    if (!page.has_more) return messages;
  }
}
const said = (messages: readonly OutsideMessage[]) => messages.map(({ id: _id, ...message }) => message);
const kept = (messages: readonly HistoryMessage[]) => messages.map(({ uuid: _uuid, ...message }) => message);

describe('a long local session', () => {
  const begin = async (count: number) => {
    const relay = await home.relay();
    const storeDir = home.folder();
    const { outside, say } = desk();
    say('desk-1', talk(count));
    const start = () => home.daemon(relay, echo(), { outside, storeDir });
    const daemon = start();
    const connection = await relay.connection();
    const restart = async (meanwhile: () => void = () => undefined) => {
      await daemon.stop();
      meanwhile();
      start();
      return relay.connection();
    };
    return { connection, say, restart, storeDir };
  };

  it('is added whole and in order, once, even after a restart of the daemon', async () => {
    const { connection, restart } = await begin(1000);
    const before = await history(connection);
    expect(kept(before)).toEqual(said(talk(1000)));
    expect(await history(await restart())).toEqual(before);
  });

  it('loses nothing if it grows by more than a page between two checks', async () => {
    const { connection, say } = await begin(10);
    const before = await history(connection);
    say('desk-1', talk(500, 10));
    const after = await history(connection);
    expect(after.slice(0, 10)).toEqual(before);
    expect(kept(after)).toEqual(said(talk(510)));
  });

  it.each([
    ['with the times of its messages', (message: OutsideMessage) => message],
    ['with one time for all', (message: OutsideMessage, last: string) => ({ ...message, timestamp: last })],
  ])('has a message from an app once, in its place, if the agent reports it %s', async (_name, timed) => {
    const { connection, say } = await begin(500);
    await history(connection);
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'desk-1', message: 'from afar' });
    await connection.event('TASK_COMPLETE', 't1');
    // The agent writes its answer a little later than the daemon.
    const now = Date.now();
    const last = new Date(now + 600_000).toISOString();
    const later = ['from afar', 'agent on its way', 'You said: from afar'].map((text) => ({
      ...theirs(text),
      role: text === 'from afar' ? ('USER' as const) : ('AGENT' as const),
      timestamp: new Date(now + 1000).toISOString(),
    }));
    const more = talk(500, 500).map((message, index) => ({
      ...message,
      timestamp: new Date(now + 2000 + index).toISOString(),
    }));
    say(
      'desk-1',
      [...later, ...more].map((message) => timed(message, last)),
    );
    const all = words(await history(connection));
    expect(all).toBe(words([...talk(500), { content: 'from afar' }, { content: 'You said: from afar' }, ...more]));
  });

  it('is repaired after a crash interrupted its import, which completes at the next check', async () => {
    const { connection, restart, storeDir } = await begin(1000);
    const before = await history(connection);
    const tear = () => {
      const folder = join(storeDir, 'sessions');
      const file = join(folder, readdirSync(folder)[0] ?? '');
      truncateSync(file, Math.floor(statSync(file).size / 2));
    };
    const after = await history(await restart(tear));
    expect(after).toEqual(before);
    expect(kept(after)).toEqual(said(talk(1000)));
  });
});

describe('a session started locally', () => {
  const begin = async () => {
    const relay = await home.relay();
    const world = desk();
    const { outside } = world;
    world.say('desk-1', [theirs('hi', 1), theirs('agent hi', 2)]);
    home.daemon(relay, echo(), { outside, timings: { watchIntervalMs: 10, reportIntervalMs: 20 } });
    return { ...world, connection: await relay.connection() };
  };

  it('is reported with title, project, time and count', async () => {
    const { connection } = await begin();
    const { sessions } = await connection.frame('report_sessions');
    expect(sessions).toEqual([
      {
        session_id: 'desk-1',
        title: 'title of desk-1',
        project: '/desk',
        project_name: 'desk',
        last_message: 'agent hi',
        last_activity: at(2),
        message_count: 2,
        is_active: false,
      },
    ]);
  });

  it('is paged with its own times, and keeps its uuids when more messages follow', async () => {
    const { connection, say } = await begin();
    const page = async () => {
      connection.send({ type: 'get_messages', request_id: 'r', session_id: 'desk-1', limit: 50 });
      return (await connection.frame('messages')).messages ?? [];
    };
    const before = await page();
    expect(before).toMatchObject([
      { role: 'USER', content: 'hi', timestamp: at(1) },
      { role: 'AGENT', content: 'agent hi', timestamp: at(2) },
    ]);
    say('desk-1', [theirs('more', 3)]);
    const after = await page();
    expect(after.slice(0, 2)).toEqual(before);
    expect(words(after)).toBe('hi,agent hi,more');
  });

  it('can be continued from an app', async () => {
    const { connection } = await begin();
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'desk-1', message: 'from afar' });
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('You said: from afar');
    connection.send({ type: 'get_messages', request_id: 'r', session_id: 'desk-1', limit: 50 });
    expect(words((await connection.frame('messages')).messages ?? [])).toBe(
      'hi,agent hi,from afar,You said: from afar',
    );
  });

  it('causes session_activity when it is watched and changes, and reports completion only after the turn', async () => {
    const { connection, say } = await begin();
    connection.send({ type: 'watch_session', session_id: 'desk-1' });
    await connection.settle();
    await connection.frame('report_sessions');
    await connection.frame('report_sessions');
    say('desk-1', [theirs('more', 3)], true);
    expect(await connection.frame('session_activity')).toMatchObject({ last_message: 'more', is_completion: false });
    say('desk-1', [theirs('agent more', 4)], false);
    expect(await connection.frame('session_activity')).toMatchObject({
      session_id: 'desk-1',
      last_message: 'agent more',
      message_count: 4,
      is_completion: true,
    });
  });

  it('outdates the memory of the agent when it changes, and only then', async () => {
    const relay = await home.relay();
    const { outside, say } = desk();
    say('desk-1', [theirs('hi', 1)]);
    const outdated: string[] = [];
    const agent = { ...echo(), outdated: (sessionId: string) => void outdated.push(sessionId) };
    home.daemon(relay, agent, { outside, timings: { watchIntervalMs: 60_000 } });
    const connection = await relay.connection();
    const turn = async (taskId: string) => {
      connection.send({ type: 'task_resume', task_id: taskId, session_id: 'desk-1', message: 'from afar' });
      await connection.event('TASK_COMPLETE', taskId);
    };
    await turn('t1');
    await turn('t2');
    expect(outdated).toEqual(['desk-1']);
    say('desk-1', [{ ...theirs('more'), timestamp: new Date(Date.now() + 60_000).toISOString() }]);
    await turn('t3');
    expect(outdated).toEqual(['desk-1', 'desk-1']);
    // Happens when the session is only opened, too.
    say('desk-1', [{ ...theirs('and more'), timestamp: new Date(Date.now() + 120_000).toISOString() }]);
    connection.send({ type: 'watch_session', session_id: 'desk-1' });
    await connection.settle();
    expect(outdated).toEqual(['desk-1', 'desk-1', 'desk-1']);
  });

  it('is not loaded again without a change, in any number of checks', async () => {
    const { connection, reads } = await begin();
    connection.send({ type: 'watch_session', session_id: 'desk-1' });
    for (let report = 0; report < 6; report++) await connection.frame('report_sessions');
    expect(reads()).toBe(1);
  });

  it('affects no other session if it cannot be read', async () => {
    const relay = await home.relay();
    const broken = (): never => {
      throw new Error('damaged');
    };
    const outside: Outside = { sessions: broken, stamp: () => 'x', read: broken };
    home.daemon(relay, playing([{ type: 'complete', text: 'fine' }]), { outside });
    const connection = await relay.connection();
    connection.send({ type: 'watch_session', session_id: 'desk-1' });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('fine');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: 'desk-1', message: 'x' });
    expect((await connection.event('ERROR', 't2')).error).toContain('no such session');
  });
});
