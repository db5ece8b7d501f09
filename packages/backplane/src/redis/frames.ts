/**
 * What is said to users: appended to their history or hot, and the history itself. Knows neither who listens nor how what is said is
 * heard.
 */
import { randomBytes } from 'node:crypto';
import type { HistoryPage, VersionedState } from '../backplane.ts';
import { Gaps } from './gaps.ts';
import { type Names, partitionOf, tagged } from './names.ts';
import { readRecords, record } from './records.ts';
import { sharedText } from './script.ts';
import type { Bring, Turns } from './turns.ts';

export interface FramesOptions {
  readonly names: Names;
  readonly turns: Turns;
  readonly historyTtlMs: number;
  onError(error: unknown): void;
}

export class Frames {
  readonly #options: FramesOptions;
  readonly #gaps: Gaps;
  /** Begins the offsets of this instance, which never lives twice. */
  readonly #epoch = randomBytes(9).toString('base64url');
  #appended = 0;
  #closed = false;

  constructor(options: FramesOptions) {
    this.#options = options;
    const breakChain = (user: string) => {
      const partition = partitionOf(user);
      const id = tagged(partition, user);
      return options.turns.run(partition, ['b', id, String(id.length)]);
    };
    this.#gaps = new Gaps(breakChain, (error) => options.onError(error));
  }

  async append(user: string, body: string): Promise<{ offset: string; receivers: number }> {
    const offset = this.#nextOffset();
    return { offset, receivers: await this.#append(user, 'a', offset, body) };
  }

  /** `names` as `once` takes them. False: something of it was said before. */
  async appendOnce(user: string, body: string, names: string, ttlMs: string): Promise<boolean> {
    const scope = tagged(partitionOf(user), scoped(user));
    return (await this.#append(user, 'z', this.#nextOffset(), body, scope, ttlMs, names)) !== -1;
  }

  async appendNewest(user: string, body: string, state: VersionedState): Promise<boolean> {
    return (await this.#append(user, 'e', this.#nextOffset(), body, ...this.#stateOf(user, state))) !== -1;
  }

  async publishNewest(user: string, body: string, state: VersionedState): Promise<boolean> {
    const partition = partitionOf(user);
    const id = tagged(partition, user);
    const operation = ['i', id, record('h', id, body), ...this.#stateOf(user, state)];
    return (await this.#options.turns.run(partition, operation)) !== -1;
  }

  async publish(user: string, body: string): Promise<number> {
    const partition = partitionOf(user);
    const id = tagged(partition, user);
    const bring = (bodies: readonly string[], until: number) => this.#hot(user, id, bodies, until);
    return (await this.#options.turns.say(partition, id, body, bring)) as number;
  }

  async read(user: string, since: string): Promise<HistoryPage> {
    const partition = partitionOf(user);
    // What cannot be one of our offsets is not sent: it may be long, and it is nowhere.
    const asked = /^[\w.-]{0,64}$/.test(since) ? since : '-';
    const answer = (await this.#options.turns.run(partition, ['d', tagged(partition, user), asked])) as Answer;
    const items: { offset: string; body: string }[] = [];
    readRecords(answer[2] ?? '', (_, [offset = '', , , body = '']) => items.push({ offset, body }));
    return { top: answer[0], recovered: answer[1] === 1, items };
  }

  /** Redis can be asked: whoever lost a frame is told now. */
  up(): void {
    this.#gaps.settleAll();
  }

  close(): void {
    this.#closed = true;
    this.#gaps.close();
  }

  async #append(user: string, letter: string, offset: string, body: string, ...args: string[]): Promise<number> {
    this.#gaps.settle(user);
    const partition = partitionOf(user);
    const id = tagged(partition, user);
    const operation = [letter, id, offset, `${id.length},${body.length}`, body, ...args];
    try {
      return (await this.#options.turns.run(partition, operation)) as number;
    } catch (error) {
      // Whether it is in the history or not: nobody may believe that nothing is missing.
      if (!this.#closed) this.#gaps.add(user);
      throw error;
    }
  }

  #stateOf(user: string, { key, version, ttlMs }: VersionedState): string[] {
    return [tagged(partitionOf(user), scoped(user) + key), String(version), String(Math.max(1, Math.round(ttlMs)))];
  }

  /** Much of it is not for the script, whose strings cost by their length: it goes by the channel of the user, which all hear. */
  #hot(user: string, id: string, bodies: readonly string[], until: number): ReturnType<Bring> {
    let size = 0;
    for (const body of bodies) size += body.length;
    if (size <= sharedText) return { operation: ['h', id, bodies.map((body) => record('h', id, body)).join('')] };
    const text = bodies.map((body) => record('H', id, body, String(until))).join('');
    return { channel: this.#options.names.user(user), text };
  }

  /** Unique for ever; the last letter changes four times in the life of a history, which is how scripts know to prolong it. */
  #nextOffset(): string {
    this.#appended += 1;
    const quarter = Math.floor((Date.now() / this.#options.historyTtlMs) * 4) % 36;
    return `${this.#epoch}.${this.#appended.toString(36)}.${quarter.toString(36)}`;
  }
}

type Answer = [top: string, recovered: number, records?: string];

/** A scope as keys carry it: however the names are cut, two scopes are never one. */
export const scoped = (scope: string): string => `${scope.length}:${scope}`;
