/**
 * The Redis operations of the backplane, one row each: name, arguments in order, answer, Lua. The script (`script.ts`)
 * and the typed `run('append', { … })` (`batcher.ts`) derive from this table; to add an operation, add a row.
 *
 * The Lua sees its arguments by name, as strings; `now`, Redis time in ms since 1970; and the functions of
 * `functions.ts`. It must stay within one partition: that of its first argument, which carries the hash tag.
 *
 * Cost in Redis commands, besides the EVALSHA and one PUBLISH per channel, which a batch shares: append 4, more now and
 * then; publish 1; route 1; claim, release and each lease of refresh 2.
 */
import { type ArgumentsOf, createEncoder, deadline, integer, milliseconds, operation, text } from './operation.ts';
import { letterOf } from './wire.ts';

// Answers: the value that the Lua returns, as callers get it.
const asNumber = (value: unknown) => value as number;
const asText = (value: unknown) => value as string;
const firstText = (value: unknown) => (value as [string | null])[0] ?? undefined;
const isOne = (value: unknown) => value === 1;
const isDone = (value: unknown) => value !== -1;

const frame = { id: text, offset: text, lengths: text, body: text } as const;
const state = { state: text, version: integer, ttl: milliseconds } as const;

export const operations = {
  // User frames: `id` is the user, `lengths` are those of `id` and `body` in UTF-16 units. A failed append breaks the
  // chain of the user.
  append: operation(frame, asNumber, `return append(id, offset, lengths, body)`, { breaksChain: true }),
  appendOnce: operation(
    { ...frame, scope: text, keys: text, ttl: milliseconds },
    isDone,
    `return remember(scope, keys, ttl, true) == 1 and append(id, offset, lengths, body) or -1`,
    { breaksChain: true },
  ),
  appendNewest: operation(
    { ...frame, ...state },
    isDone,
    `return is_newest(state, version, ttl) and append(id, offset, lengths, body) or -1`,
    { breaksChain: true },
  ),
  /** `records` are hot frames of the user, encoded. */
  publish: operation({ id: text, records: text }, asNumber, `return send_to_user(id, records)`),
  publishNewest: operation(
    { id: text, record: text, ...state },
    isDone,
    `return is_newest(state, version, ttl) and send_to_user(id, record) or -1`,
  ),
  /** Answers the top, 1 if the history reaches back to `since`, and the entries after it as records. */
  read: operation(
    { id: text, since: text },
    (value) => value as [top: string, recovered: number, records?: string],
    `
    local top = call('GET', PREFIX..'t:'..id) or ''
    if since == '' or since == top then return {top, 1} end
    local records = records_since(id, since, top)
    return {top, records and 1 or 0, records}`,
  ),
  /** Discards the entries, not the top. */
  forget: operation({ id: text }, asNumber, `return call('DEL', PREFIX..'h:'..id)`),
  /** Entries might be missing: discards the chain and notifies the subscribers. */
  breakChain: operation({ id: text, idLength: integer }, asNumber, `return break_chain(id, idLength)`),
  /** Puts an instance on the list of subscribers and sends it the top that its next frame follows. Answers 0 if it does not receive that. */
  listSubscriber: operation(
    { id: text, instance: text, idLength: integer },
    asNumber,
    `
    local instances = subscribers_without(id, instance)
    instances[#instances + 1] = instance
    save_subscribers(id, instances)
    local top = call('GET', PREFIX..'t:'..id) or ''
    return send(instance_channel(id, instance), '${letterOf.top}'..#top..','..idLength..':'..top..id)`,
  ),
  unlistSubscriber: operation(
    { id: text, instance: text },
    asNumber,
    `
    if call('EXISTS', PREFIX..'s:'..id) == 1 then save_subscribers(id, subscribers_without(id, instance)) end
    return 0`,
  ),
  audience: operation({ id: text }, asNumber, `return call('PUBSUB', NUMSUB, PREFIX..'u:'..id)[2]`),

  // Leases and commands: `id` is the device. Claim answers the fence, then a space and the previous lease if it was
  // live.
  claim: operation(
    { id: text, instance: text, rest: text },
    asText,
    `
    local fence, ends, owner, owned, lease = read_lease(id)
    local previous, mine = '', now
    if fence then
      if fence >= now then mine = fence + 1 end
      if ends > now then
        previous = ' '..lease
        local lengths, fields = match(owned, '^([^:]*):(.*)$')
        local old = decimal(fence)
        enqueue(instance_channel(id, owner), '${letterOf.evicted}'..#old..','..lengths..':'..old..fields)
      end
    end
    write_lease(id, mine, now + LEASE_TTL, instance, rest)
    return decimal(mine)..previous`,
  ),
  /** `leases`: each is the lengths of id and rest in bytes, fence, colon, id, rest. Answers the places of leases that a newer claim replaced. */
  refresh: operation(
    { id: text, instance: text, leases: text },
    (value) => value as number[],
    `
    local lost, place, at = {}, 0, 1
    while at <= #leases do
      local size, length, fence, from = match(leases, '^(%d+),(%d+),(%d+):()', at)
      local device, mine = sub(leases, from, from + size - 1), tonumber(fence)
      at = from + size + length
      local newest, ends = read_lease(device)
      if newest and newest > mine then lost[#lost + 1] = place
      elseif newest ~= mine or ends ~= 0 then
        write_lease(device, mine, now + LEASE_TTL, instance, sub(leases, from + size, at - 1))
      end
      place = place + 1
    end
    return lost`,
  ),
  release: operation(
    { id: text, fence: integer },
    isOne,
    `
    local newest, ends, instance, rest = read_lease(id)
    if newest ~= tonumber(fence) or ends <= now then return 0 end
    write_lease(id, newest, 0, instance, rest)
    return 1`,
  ),
  /** The live leases among these ids, each prefixed by its length in bytes and a colon. */
  owners: operation(
    { id: text, ids: text },
    (value) => value as string[],
    `
    local live, at = {}, 1
    while at <= #ids do
      local size, from = match(ids, '^(%d+):()', at)
      at = from + tonumber(size)
      local fence, ends, _, _, lease = read_lease(sub(ids, from, at - 1))
      if fence and ends > now then live[#live + 1] = lease end
    end
    return live`,
  ),
  /** Sends a command to the owner; `lengths` and `fields` are the part of its record behind fence and deadline. */
  route: operation(
    { id: text, deadline, lengths: text, fields: text },
    (value) => (value === -2 ? 'expired' : value === -1 ? 'offline' : value === 0 ? 'owner_gone' : 'posted'),
    `
    if now > tonumber(deadline) then return -2 end
    local number, ends, instance = read_lease(id)
    if not number or ends <= now then return -1 end
    local fence = decimal(number)
    local header = '${letterOf.command}'..#fence..','..#deadline..','..lengths..':'
    return send(instance_channel(id, instance), header..fence..deadline..fields)`,
  ),

  // Shared state. `keys`: each prefixed by its length in bytes and a colon.
  once: operation({ scope: text, keys: text, ttl: milliseconds }, isOne, `return remember(scope, keys, ttl, true)`),
  mark: operation({ scope: text, keys: text, ttl: milliseconds }, isOne, `return remember(scope, keys, ttl, false)`),
  take: operation({ id: text }, firstText, `return {call('GETDEL', PREFIX..'v:'..id)}`),
  peek: operation({ id: text }, firstText, `return {call('GET', PREFIX..'v:'..id)}`),
  put: operation(
    { id: text, value: text, ttl: milliseconds },
    asText,
    `return call('SET', PREFIX..'v:'..id, value, 'PX', ttl)`,
  ),
  keepFirst: operation(
    { id: text, value: text, ttl: milliseconds },
    asText,
    `
    local kept = call('GET', PREFIX..'v:'..id)
    if kept and kept ~= value then return kept end
    call('SET', PREFIX..'v:'..id, value, 'PX', ttl)
    return value`,
  ),
  extend: operation(
    { id: text, more: text, ttl: milliseconds },
    isOne,
    `
    local key = PREFIX..'v:'..id
    if call('PEXPIRE', key, ttl) == 0 then return 0 end
    call('APPEND', key, more)
    return 1`,
  ),
  count: operation(
    { id: text, by: integer, window: milliseconds },
    (value) => value as [count: number, leftMs: number, endsAt: number],
    `
    local key = PREFIX..'k:'..id
    local left = call('PTTL', key)
    if left > 0 then return {call('INCRBY', key, by), left, call('PEXPIRETIME', key)} end
    if tonumber(by) <= 0 then return {0, 0, 0} end
    call('SET', key, by, 'PX', window)
    return {tonumber(by), tonumber(window), call('PEXPIRETIME', key)}`,
  ),

  /** Through the script, because a cluster that is down still accepts a PUBLISH, and nothing else. */
  probe: operation({ channel: text, record: text }, asNumber, `return send(channel, record)`),
};

type OperationName = keyof typeof operations;

/** Asks Redis for one operation. */
export type Run = <Name extends OperationName>(
  name: Name,
  args: ArgumentsOf<(typeof operations)[Name]>,
) => Promise<ReturnType<(typeof operations)[Name]['answer']>>;

export const encodeOperation = createEncoder(operations);
