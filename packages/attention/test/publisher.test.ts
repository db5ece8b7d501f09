import { beforeEach, describe, expect, it } from '@jest/globals';
import { type MessageRole, decodeUserFrame } from '@relay/protocol';
import {
  type HeldTurns,
  type Publisher,
  type UserChannel,
  createPublisher,
  message,
  newMessage,
  sessionUpdate,
} from '../src/index.ts';
import { session } from './session.ts';

interface Sent {
  how: 'append' | 'publish';
  user: string;
  body: string;
}

/** The edge of the world: records frames to other instances, and remembers used keys. */
class RecordingChannel implements UserChannel {
  readonly sent: Sent[] = [];
  readonly asked: { scope: string; keys: readonly string[]; ttlMs: number }[] = [];
  readonly #said = new Set<string>();
  /** The error that every call fails with, while it is set. */
  failure: Error | undefined;
  /** Hot frames hang until this resolves. */
  gate: Promise<void> | undefined;

  append(user: string, body: string): Promise<unknown> {
    if (this.failure) return Promise.reject(this.failure);
    this.sent.push({ how: 'append', user, body });
    return Promise.resolve({ offset: `${this.sent.length}`, receivers: 0 });
  }

  async appendNewest(user: string, body: string): Promise<boolean> {
    await this.append(user, body);
    return true;
  }

  async publishNewest(user: string, body: string): Promise<boolean> {
    await this.publish(user, body);
    return true;
  }

  async appendOnce(user: string, body: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    if (!(await this.#remember(user, keys, ttlMs))) return false;
    await this.append(user, body);
    return true;
  }

  readonly #kept = new Map<string, string>();
  once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    return this.#remember(scope, keys, ttlMs);
  }

  peek(key: string): Promise<string | undefined> {
    if (this.failure) return Promise.reject(this.failure);
    return Promise.resolve(this.#kept.get(key));
  }

  take(key: string): Promise<string | undefined> {
    if (this.failure) return Promise.reject(this.failure);
    const value = this.#kept.get(key);
    this.#kept.delete(key);
    return Promise.resolve(value);
  }

  put(key: string, value: string, ttlMs: number): Promise<unknown> {
    if (this.failure) return Promise.reject(this.failure);
    this.asked.push({ scope: key, keys: [value], ttlMs });
    this.#kept.set(key, value);
    return Promise.resolve();
  }

  extend(key: string, more: string, ttlMs: number): Promise<boolean> {
    if (this.failure) return Promise.reject(this.failure);
    this.asked.push({ scope: key, keys: [more], ttlMs });
    const known = this.#kept.get(key);
    if (known !== undefined) this.#kept.set(key, known + more);
    return Promise.resolve(known !== undefined);
  }

  async publish(user: string, body: string): Promise<unknown> {
    await this.gate;
    if (this.failure) throw this.failure;
    this.sent.push({ how: 'publish', user, body });
    return 0;
  }

  mark(scope: string, keys: readonly string[], ttlMs: number): Promise<unknown> {
    return this.#remember(scope, keys, ttlMs);
  }

  #remember(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    if (this.failure) return Promise.reject(this.failure);
    this.asked.push({ scope, keys, ttlMs });
    const names = keys.map((key) => `${scope} ${key}`);
    const isNew = names.every((name) => !this.#said.has(name));
    for (const name of names) this.#said.add(name);
    return Promise.resolve(isNew);
  }
}

/** Keeps the versions, as the backplane does. */
class VersionedChannel extends RecordingChannel {
  readonly #newest = new Map<string, number>();
  override async appendNewest(user: string, body: string, state = { key: '', version: 0 }): Promise<boolean> {
    if ((this.#newest.get(state.key) ?? state.version) > state.version) return false;
    this.#newest.set(state.key, state.version);
    return super.appendNewest(user, body);
  }
}

describe('a publisher', () => {
  it('always publishes a new id, and nothing older after it', async () => {
    const versioned = new VersionedChannel();
    const of = publisherOf(versioned);
    const state = (version: number, id: string) => ({
      ...{ ownerId: 'alice', key: 'k1', version, session: { ...session, id } },
    });
    await of.session(state(5, 'd:a:n'), 'd:a:PENDING-1');
    await of.session(state(4, 'd:a:PENDING-1'));
    await of.session(state(3, 'd:a:m'), 'd:a:PENDING-0');
    const ids = versioned.sent.map(
      ({ body }) => (JSON.parse(decodeUserFrame(body)!.text) as { session: { id: string } }).session.id,
    );
    expect(ids).toEqual(['d:a:n', 'd:a:m']);
  });

  let channel: RecordingChannel;
  let publisher: Publisher;
  let errors: unknown[];
  const states = [
    { ownerId: 'alice', key: 'k1', version: 1, session },
    { ownerId: 'bob', key: 'k2', version: 1, session: { ...session, id: 'd:a:m' } },
  ];
  beforeEach(() => {
    channel = new RecordingChannel();
    errors = [];
    turns = new Map();
    publisher = publisherOf(channel);
  });
  const publisherOf = (of: UserChannel) =>
    createPublisher({
      channel: of,
      windowMs: 30_000,
      readSessions: (keys) => Promise.resolve(states.filter(({ key }) => keys.includes(key))),
      onError: (error) => errors.push(error),
    });
  /** Simulates a gateway that crashes in the tick of its append: later calls do nothing. */
  const endingPublisher = () => {
    let isOver = false;
    const call = (target: RecordingChannel, name: keyof UserChannel, args: unknown[]) => {
      if (isOver) return new Promise(() => undefined);
      if (name.startsWith('append')) queueMicrotask(() => (isOver = true));
      return (target[name] as (...all: unknown[]) => unknown).apply(target, args);
    };
    const get =
      (target: RecordingChannel, name: keyof UserChannel) =>
      (...args: unknown[]) =>
        call(target, name, args);
    return publisherOf(new Proxy(channel, { get }));
  };

  const at = '2026-01-01T00:00:00.000Z';
  const said = (content: string, { uuid = 'u', role = 'AGENT' }: { uuid?: string; role?: MessageRole } = {}) =>
    message(uuid, role, content, at);
  /** Turns of the connection that has the device now. */
  let turns: HeldTurns;
  const of = ({ owner = 'alice', key = 'k1' }: { owner?: string; key?: string }) =>
    ({ ownerId: owner, key, sessionId: 'd:a:n', turns }) as const;
  const publish = (
    content: string,
    options: { uuid?: string; role?: 'USER' | 'AGENT'; key?: string; uuids?: string[]; owner?: string } = {},
  ) => publisher.publishMessage(of(options), said(content, options), options.uuids);
  const publishEnd = (content: string, { role, key }: { role?: 'AGENT' | 'SYSTEM'; key?: string } = {}) =>
    publisher.publishEnd(of({}), said(content, role && { role }), key === undefined ? {} : { key });
  const contents = () =>
    channel.sent.map(
      ({ body }) => (JSON.parse(decodeUserFrame(body)!.text) as { message: { content: string } }).message.content,
    );

  it('hands a frame over as one letter and the text of the frame, to be kept', async () => {
    await publisher.append('alice', sessionUpdate(session));
    await publisher.append('alice', { type: 'session_removed', sessionId: 'd:a:n' }, 'x');
    expect(
      channel.sent.map(({ how, user, body }) => [how, user, body.charAt(0), JSON.parse(body.slice(1)) as unknown]),
    ).toEqual([
      ['append', 'alice', 'f', sessionUpdate(session)],
      ['append', 'alice', 'x', { type: 'session_removed', sessionId: 'd:a:n' }],
    ]);
  });

  it('publishes the current state of each session to its own user, and skips deleted sessions', async () => {
    await publisher.sessions(['k2', 'deleted', 'k1']);
    expect(channel.sent.map(({ user, body }) => [user, JSON.parse(body.slice(1)) as unknown])).toEqual(
      states.map((state) => [state.ownerId, sessionUpdate(state.session)]),
    );
  });

  it('sends a hot frame to connected apps without waiting', async () => {
    let open!: () => void;
    channel.gate = new Promise((resolve) => (open = resolve));
    publisher.hot('alice', sessionUpdate(session), 'p');
    publisher.hot('alice', { type: 'task_output', sessionId: 'd:a:n', output: 'line' }, 'o');
    await publisher.append('alice', sessionUpdate(session));
    open();
    await channel.gate;
    await publisher.append('alice', sessionUpdate(session));
    expect(channel.sent.map(({ how, body }) => [how, body.charAt(0)])).toEqual([
      ['append', 'f'],
      ['publish', 'p'],
      ['publish', 'o'],
      ['append', 'f'],
    ]);
  });

  describe('publishes a message', () => {
    it('as new_message, once per uuid, and once per text of a user', async () => {
      await publish('hello', { uuids: ['u'] });
      await publish('hello', { uuid: 'another', uuids: ['u'] });
      expect(channel.sent).toHaveLength(1);
      expect(JSON.parse(channel.sent[0]!.body.slice(1))).toEqual(newMessage('d:a:n', said('hello')));
      await publish('hi', { role: 'USER' });
      await publish('hi', { role: 'USER', uuid: 'another' });
      expect(contents()).toEqual(['hello', 'hi']);
      const told = channel.asked.filter(({ scope }) => scope === 'alice');
      expect(new Set(told.map(({ ttlMs }) => ttlMs))).toEqual(new Set([30_000]));
    });

    it('F2: not when the result of its turn holds it, in either order', async () => {
      await publish('A', { uuids: ['u1'] });
      await publishEnd('A\n\nB\n');
      await publish('B', { uuids: ['u2'] });
      await publish('B', { uuids: ['u2'] });
      expect(contents()).toEqual(['A', 'B\n']);
      await publish('B', { uuids: ['u3'] });
      await publishEnd('B');
      expect(contents()).toEqual(['A', 'B\n', 'B']);
    });

    it('F2: not after a publication over the previous connection', async () => {
      for (const text of ['A', 'B', 'C']) await publish(text);
      turns = new Map();
      await publish('D');
      turns = new Map();
      await publishEnd('A\n\nB\n\nC\n\nD\n\nE');
      turns = new Map();
      await publish('E');
      expect(contents()).toEqual(['A', 'B', 'C', 'D', 'E']);
    });

    it('F2: not when a repetition was all that came over the connection before', async () => {
      await publish('A', { uuids: ['u1'] });
      turns = new Map();
      await publish('A', { uuids: ['u1'] });
      turns = new Map();
      await publishEnd('A\n\nB');
      turns = new Map();
      await publish('B', { uuids: ['u2'] });
      turns = new Map();
      await publish('B', { uuids: ['u2'] });
      await publishEnd('B');
      expect(contents()).toEqual(['A', 'B', 'B']);
    });

    describe('F2: not again after its gateway crashed during the publication', () => {
      const end = async (act: (ending: Publisher) => Promise<void>) => {
        turns = new Map();
        void act(endingPublisher());
        await new Promise((resolve) => setImmediate(resolve));
        turns = new Map();
      };

      it.each([
        [['first'], 'A'],
        [[], 'A'],
        [[], 'A\n\nB'],
      ])('after %j, before the result %j', async (before, result) => {
        for (const text of before) await publish(text, { uuids: [text] });
        await end((ending) => ending.publishMessage(of({}), said('A'), ['u1']));
        await publishEnd([...before, result].join('\n\n'));
        expect(contents()).toEqual([...before, ...result.split('\n\n')]);
      });

      it('as the result, before the text that it holds', async () => {
        await publish('A', { uuids: ['u1'] });
        await end((ending) => ending.publishEnd(of({}), said('A\n\nB')));
        await publish('B', { uuids: ['u2'] });
        expect(contents()).toEqual(['A', 'B']);
      });
    });

    it('F2: not after the stored turn expired, or failed to be stored', async () => {
      await publish('A');
      await channel.take('texts:k1');
      await publish('B');
      channel.failure = new Error('gone');
      await publish('C');
      channel.failure = undefined;
      await publish('D');
      turns = new Map();
      await publishEnd('A\n\nB\n\nC\n\nD');
      expect(contents()).toEqual(['A', 'B', 'D']);
    });

    it('with a text stored once, however many its turn has, and within bounds', async () => {
      await publish('a text');
      channel.asked.length = 0;
      for (let n = 0; n < 1_200; n += 1) await publish(`text ${n}`);
      const sizes = channel.asked.map(({ keys }) => keys[0]!.length);
      expect(sizes.filter((size) => size > 100)).toHaveLength(2);
      expect(Math.max(...sizes)).toBeLessThan(50_000);
      for (let n = 0; n < 100; n += 1) await publish('another', { key: `k${n}` });
      expect(turns.size).toBeLessThan(20);
    });

    it('F2c: after each turn, and once per key', async () => {
      await publishEnd('Done.');
      await publishEnd('Done.');
      await publishEnd('Failed.', { role: 'SYSTEM' });
      await publishEnd('Failed.', { role: 'SYSTEM' });
      expect(contents()).toEqual(['Done.', 'Done.', 'Failed.', 'Failed.']);
      await publishEnd('Done.', { key: 'e1' });
      await publishEnd('Done.', { key: 'e1' });
      await publishEnd('', { key: 'e2' });
      expect(contents()).toHaveLength(5);
    });

    it('again in another session, by another role, with another text, to another user', async () => {
      await publish('hello');
      await publish('hello', { key: 'k2' });
      await publish('hello', { role: 'USER' });
      await publish('hello!');
      await publish('hello', { owner: 'bob' });
      expect(channel.sent).toHaveLength(5);
    });

    it('once per uuid, with any text', async () => {
      await publish('as it was', { uuids: ['u1', 'u2'] });
      await publish('as it was put', { uuids: ['u2'] });
      await publish('in other words', { uuids: ['u3', 'u1'] });
      // u3 was seen together with u1: it is the same message.
      await publish('and again', { uuids: ['u3'] });
      await publish('something else', { uuids: ['u4'] });
      await publish('no uuid at all');
      expect(contents()).toEqual(['as it was', 'something else', 'no uuid at all']);
    });

    it('not when it is empty, and remembers nothing of that', async () => {
      await publish('', { uuids: ['u1'] });
      await publish('not empty', { uuids: ['u1'] });
      expect(contents()).toEqual(['not empty']);
    });

    it('not if marked before, by its text or its uuid', async () => {
      await publisher.markPublished('alice', 'k1', { role: 'USER', content: 'over REST' });
      await publisher.markPublished('alice', 'k1', { uuid: 'u1' });
      expect(channel.sent).toEqual([]);
      await publish('over REST', { role: 'USER' });
      await publish('anything', { uuids: ['u1'] });
      await publish('over REST', { role: 'AGENT' });
      expect(contents()).toEqual(['over REST']);
    });

    it('without its text in the store of published keys', async () => {
      await publish('a secret', { uuids: ['u1'] });
      await publisher.markPublished('alice', 'k1', { role: 'USER', content: 'another secret' });
      expect(JSON.stringify(channel.asked)).not.toMatch(/secret/);
      for (const { keys } of channel.asked) for (const key of keys) expect(key.length).toBeLessThan(200);
    });
  });

  describe('while the other instances cannot be reached', () => {
    it('throws nothing and reports every error', async () => {
      channel.failure = new Error('gone');
      await publisher.append('alice', sessionUpdate(session));
      await publisher.markPublished('alice', 'k1', { uuid: 'u1' });
      expect(errors).toEqual([channel.failure, channel.failure]);
      publisher.hot('alice', sessionUpdate(session), 'p');
      await publisher.append('alice', sessionUpdate(session));
      await publisher.append('alice', sessionUpdate(session));
      expect(errors).toHaveLength(5);
    });

    it('get the error of a failed message, and the next message is published', async () => {
      await publish('hello');
      channel.failure = new Error('gone');
      await publish('lost');
      await publishEnd('lost', { key: 'e1' });
      expect(new Set(errors)).toEqual(new Set([channel.failure]));
      channel.failure = undefined;
      await publish('there again');
      expect(contents()).toEqual(['hello', 'there again']);
    });
  });
});
