// Work that the promise of the relay requires, in the smallest form that we know, for the rows called floor.
import { createHash } from 'node:crypto';

/** How often the relay pings a silent daemon, and renews its lease. */
const pingMs = 30_000;
const renewMs = 20_000;
const leaseMs = 60_000;
const ticks = 300;
const renewedTogether = 256;
const rememberedMs = 86_400_000;
const historyLength = 1_000;

/**
 * Forwards an event of a daemon: parses it and publishes the app's frame. A message that is kept passes a script: Redis
 * remembers its name, so that no second instance repeats it, appends it to the history of the user and publishes it.
 * `(user, text) => Promise`.
 */
export function forwarder(redis) {
  redis.defineCommand('keep', {
    numberOfKeys: 2,
    lua: `
      if not redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[3]) then return 0 end
      redis.call('RPUSH', KEYS[2], ARGV[2])
      redis.call('LTRIM', KEYS[2], -ARGV[4], -1)
      return redis.call('PUBLISH', ARGV[1], ARGV[2])`,
  });
  let sent = 0;
  return (user, event) => {
    const { kept, output } = JSON.parse(event);
    const text = JSON.stringify({ type: 'event', output });
    if (!kept) return redis.publish(`u:${user}`, text);
    // The texts of the load are equal, so a number names each.
    const name = createHash('sha256')
      .update(`${user}:${(sent += 1)}`)
      .update(text)
      .digest('base64url');
    return redis.keep(`k:${name}`, `h:${user}`, `u:${user}`, text, rememberedMs, historyLength);
  };
}

/**
 * Leases a device to this instance, sends each daemon two pings a minute from one timer, and renews its lease in Redis
 * three times, 256 leases in one operation. `(user, socket) => Promise`.
 */
export function pinging(redis) {
  redis.defineCommand('renew', {
    lua: `for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end`,
  });
  const slots = Array.from({ length: ticks }, () => new Set());
  let daemons = 0;
  let tick = 0;
  setInterval(() => {
    tick = (tick + 1) % ticks;
    for (const socket of slots[tick]) socket.send('{"type":"ping"}');
  }, pingMs / ticks);
  const leases = new Set();
  setInterval(() => {
    const keys = [...leases];
    for (let from = 0; from < keys.length; from += renewedTogether) {
      const some = keys.slice(from, from + renewedTogether);
      void redis.renew(some.length, ...some, leaseMs);
    }
  }, renewMs);
  return (user, socket) => {
    const slot = slots[(daemons += 1) % ticks];
    slot.add(socket);
    leases.add(`l:${user}`);
    socket.on('close', () => {
      slot.delete(socket);
      leases.delete(`l:${user}`);
    });
    return redis.set(`l:${user}`, process.pid, 'PX', leaseMs);
  };
}

/** Returns a middleware that looks the hash of a token up, as for a token whose signature is verified. */
export function authenticated() {
  const verified = new Set();
  return (request, response, next) => {
    const hash = createHash('sha256')
      .update(request.headers.authorization ?? '')
      .digest('base64');
    if (!verified.has(hash)) verified.add(hash);
    next();
  };
}
