/**
 * Assembles the parts of an implementation and adds the checks that all share: the instance is open, bodies are text.
 */
import type { Backplane, BackplaneInstance } from './backplane.ts';
import type { Commands } from './commands.ts';
import { BackplaneError } from './errors.ts';
import type { Leases } from './leases.ts';
import type { Shared } from './shared.ts';
import type { UserFrames } from './user-frames.ts';

interface Parts {
  readonly leases: Leases;
  readonly commands: Commands;
  readonly frames: UserFrames;
  readonly shared: Shared;
}

/** Every call checks `isClosed`. */
export function compose(parts: Parts, self: BackplaneInstance, isClosed: () => boolean): Backplane {
  const { leases, commands, frames, shared } = parts;
  const open =
    <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> => {
      if (isClosed()) return Promise.reject(new BackplaneError('CLOSED', `${self.instance} is closed`));
      try {
        return call(...args);
      } catch (error) {
        const reason = error as Error;
        return Promise.reject(reason);
      }
    };
  return {
    ...self,

    claim: open((device, connection) => leases.claim(device, connection)),
    refresh: open((held) => leases.refresh(held)),
    release: open((device, fence) => leases.release(device, fence)),
    owners: open((devices) => leases.owners(devices)),
    onEvict: (listener) => leases.onEvict(listener),

    route: open((device, body, deadlineMs) => commands.route(device, text(body), deadlineMs)),
    request: open((device, body, timeoutMs) => commands.request(device, text(body), timeoutMs)),
    onCommand: (listener) => commands.onCommand(listener),
    reply: open((to, correlation, body) => commands.reply(to, correlation, text(body))),

    append: open((user, body) => frames.append(user, text(body))),
    appendOnce: open((user, body, keys, ttlMs) => frames.appendOnce(user, text(body), keys, ttlMs)),
    appendNewest: open((user, body, state) => frames.appendNewest(user, text(body), state)),
    publishNewest: open((user, body, state) => frames.publishNewest(user, text(body), state)),
    publish: open((user, body) => frames.publish(user, text(body))),
    read: open((user, since) => frames.read(user, since)),
    forget: open((user) => frames.forget(user)),
    subscribe: open((user, listener, onInterrupted) => frames.subscribe(user, listener, onInterrupted)),
    audience: open((user) => frames.audience(user)),

    once: open((scope, keys, ttlMs) => shared.once(scope, keys, ttlMs)),
    mark: open((scope, keys, ttlMs) => shared.mark(scope, keys, ttlMs)),
    take: open((key) => shared.take(key)),
    peek: open((key) => shared.peek(key)),
    put: open((key, value, ttlMs) => shared.put(key, text(value), ttlMs)),
    keepFirst: open((key, value, ttlMs) => shared.keepFirst(key, text(value), ttlMs)),
    extend: open((key, more, ttlMs) => shared.extend(key, text(more), ttlMs)),
    count: open((key, by, windowMs) => shared.count(key, by, windowMs)),
    publishControl: open((body) => shared.publishControl(text(body))),
    onControl: (listener) => shared.onControl(listener),
  };
}

function text(body: unknown): string {
  if (typeof body !== 'string') throw new TypeError(`the backplane carries text, not ${typeof body}`);
  return body;
}
