/**
 * The Lua functions of the script (`script.ts`), by subject; the operations (`operations.ts`) call them. They are local
 * functions of one program: each can use the functions before it, and the variables at the top of the script.
 */
import type { BackplaneOptions } from '../backplane.ts';
import { historyEntryBytes } from '../user-frames.ts';
import { letterOf } from './wire.ts';

/** How long a fence is remembered after its lease expires, so that it rises even if the clock steps back. */
const fenceMemoryMs = 24 * 60 * 60_000;

/**
 * Bodies of at least this many bytes stay separate. Redis hashes every byte of every string that a script creates, at
 * more than a nanosecond each, so the script forwards a long body unchanged, after its record (`longFrame`), as a
 * message of its own.
 */
const longBodyBytes = 1024;

/** The lifetime of the list of subscribers; they write it again when it is gone. */
const listTtlMs = 24 * 60 * 60_000;

export type Limits = Pick<BackplaneOptions, 'leaseTtlMs' | 'historyBytes' | 'historyTtlMs' | 'topTtlMs'>;

/** `sharded`: in a Redis Cluster, where the channel of an instance is one per partition. */
export const functionsText = (sharded: boolean, limits: Limits): string =>
  [channels(sharded), subscribers, leases(limits), histories(limits), reading, onceAndNewest].join('\n');

/** Records wait until the script has run, and leave as one message per channel. */
const channels = (sharded: boolean) => `
-- Records that wait for their channel, and the channels in their order.
local outgoing, channels = {}, {}
-- Operations that answer how many received it: the place of the answer, the channel, and for frames the user and the instance.
local places, place_channel, place_user, place_instance = {}, {}, {}, {}
local receivers = {}
local function flush(channel)
  local records = outgoing[channel]
  if #records == 0 then return end
  receivers[channel] = call(PUBLISH, channel, #records == 1 and records[1] or concat(records))
  outgoing[channel] = {}
end
local function enqueue(channel, record, body)
  local records = outgoing[channel]
  if records then records[#records + 1] = record
  else
    outgoing[channel] = {record}
    channels[#channels + 1] = channel
  end
  if body then
    flush(channel)
    call(PUBLISH, channel, body)
  end
end
-- Returns 0, to which the number of receivers is added in the end.
local function send(channel, record, id, instance, body)
  enqueue(channel, record, body)
  local n = #places + 1
  places[n], place_channel[n], place_user[n], place_instance[n] = count, channel, id or false, instance or false
  return 0
end
local function decimal(number) return string.format('%.0f', number) end
local function instance_channel(id, instance) return PREFIX..'i:'..${sharded ? `match(id, '^{%d+}')..` : ''}instance end`;

/** The list of instances that subscribe to a user (`s`): frames reach the instances through it. */
const subscribers = `
local function send_to_user(id, record, body)
  local listed = call('GET', PREFIX..'s:'..id)
  if not listed or sub(listed, 1, 1) == '?' then return send(PREFIX..'u:'..id, record, false, false, body) end
  if not find(listed, ' ', 1, true) then return send(instance_channel(id, listed), record, id, listed, body) end
  for instance in string.gmatch(listed, '%S+') do send(instance_channel(id, instance), record, id, instance, body) end
  return 0
end
local function save_subscribers(id, instances)
  if #instances == 0 then return call('DEL', PREFIX..'s:'..id) end
  local mark = call('PUBSUB', NUMSUB, PREFIX..'u:'..id)[2] == #instances and '' or '?'
  local done = redis.pcall('SET', PREFIX..'s:'..id, mark..concat(instances, ' '), 'PX', ${listTtlMs})
  if done.err then call('DEL', PREFIX..'s:'..id) end -- Memory is full. Without a list frames go through the channel of the user.
end
-- The instances on the list except one, without those that are gone.
local function subscribers_without(id, except)
  local instances = {}
  for instance in string.gmatch(call('GET', PREFIX..'s:'..id) or '', '[^ ?]+') do
    if instance ~= except and call('PUBSUB', NUMSUB, instance_channel(id, instance))[2] > 0 then
      instances[#instances + 1] = instance
    end
  end
  return instances
end`;

const leases = ({ leaseTtlMs }: Limits) => `
-- A lease is 'fence ends instance rest', where rest is 'lengths:fields' of device and connection. A released one ended at 0.
local function read_lease(id)
  local lease = call('GET', PREFIX..'l:'..id)
  if not lease then return nil end
  local fence, ends, instance, rest = match(lease, '^(%d+) (%d+) (%S+) (.*)$')
  return tonumber(fence), tonumber(ends), instance, rest, lease
end
local function write_lease(id, fence, ends, instance, rest)
  local lease = decimal(fence)..' '..decimal(ends)..' '..instance..' '..rest
  call('SET', PREFIX..'l:'..id, lease, 'PX', ${fenceMemoryMs + leaseTtlMs})
end`;

/** Writing: entries join the chain of their user, the oldest leave it, and a chain with a gap is broken. */
const histories = ({ historyBytes, historyTtlMs, topTtlMs }: Limits) => {
  const lifeMs = Math.ceil(historyTtlMs * 1.25);
  return `
-- DEL and PUBLISH are allowed when memory is full: subscribers and returning apps learn that something is missing.
local function break_chain(id, id_length)
  redis.pcall('DEL', PREFIX..'t:'..id)
  redis.pcall('DEL', PREFIX..'h:'..id)
  redis.pcall('DEL', PREFIX..'b:'..id)
  send_to_user(id, '${letterOf.brokenChain}'..id_length..':'..id)
  return 0
end
-- The list holds for each entry its size, then its record; of a long one the size after a plus, the body and the record.
local function trim_history(id, key, bytes)
  local at, kept = 0, bytes
  while kept > HISTORY_BYTES do
    local size = call('LINDEX', key, at)
    local number = size and tonumber(size)
    if not number then at, kept = -1, 0 break end -- Another release wrote it.
    at, kept = at + (sub(size, 1, 1) == '+' and 3 or 2), kept - number
  end
  if at < 0 then call('DEL', key) else call('LTRIM', key, at, -1) end
  call('DECRBY', PREFIX..'b:'..id, bytes - kept)
end
local function append(id, offset, lengths, body)
  local before = call('SET', PREFIX..'t:'..id, offset, 'PX', ${topTtlMs}, 'GET') or ''
  local key, length, long = PREFIX..'h:'..id, nil, #body > ${longBodyBytes}
  local size = #body + ${historyEntryBytes}
  local record = #offset..','..#before..','..lengths..':'..offset..before..id
  if long then
    record = '${letterOf.longFrame}'..record
    length = call('RPUSH', key, '+'..size, body, record)
  else
    record = '${letterOf.frame}'..record..body
    length = call('RPUSH', key, size, record)
  end
  local fresh, bytes = length == (long and 3 or 2), size
  if fresh then call('SET', PREFIX..'b:'..id, size) else bytes = call('INCRBY', PREFIX..'b:'..id, size) end
  -- Offsets end with a letter that changes when it is time to prolong the life of the list.
  if fresh or bytes == size or sub(before, -1) ~= sub(offset, -1) then
    call('PEXPIRE', key, ${lifeMs})
    call('PEXPIRE', PREFIX..'b:'..id, ${lifeMs + 60_000})
  end
  -- Trimmed now and then: reading never returns the excess.
  if bytes > ${Math.floor(historyBytes * 1.125)} then trim_history(id, key, bytes) end
  return send_to_user(id, record, long and body)
end`;
};

const reading = `
-- Follows the chain from its top back to an offset; nil if an entry is missing.
local function records_since(id, since, top)
  local key = PREFIX..'h:'..id
  local n = call('LLEN', key)
  -- Most readers were away for a moment: the newest 32 items first, then twice as many, and so on.
  local low, step, items = n, 32, {}
  local function item(place)
    while place <= low and low > 0 do
      local from = math.max(0, low - step)
      local part = call('LRANGE', key, from, low - 1)
      for m = 1, #part do items[from + m] = part[m] end
      low, step = from, step * 2
    end
    return items[place] or ''
  end
  local expected, found, bytes = top, {}, 0
  while n > 1 and expected ~= '' do
    local record = item(n)
    local kind, size, before, from = match(record, '^([${letterOf.frame}${letterOf.longFrame}])(%d+),(%d+),%d+,%d+:()')
    if not kind or sub(record, from, from + size - 1) ~= expected then return nil end
    if kind == '${letterOf.longFrame}' then
      n = n - 1
      record = '${letterOf.frame}'..sub(record, 2)..item(n)
    end
    bytes = bytes + (tonumber(item(n - 1)) or HISTORY_BYTES + 1)
    if bytes > HISTORY_BYTES then return nil end
    found[#found + 1] = record
    expected = sub(record, from + size, from + size + before - 1)
    if expected == since then
      for m = 1, math.floor(#found / 2) do found[m], found[#found + 1 - m] = found[#found + 1 - m], found[m] end
      return concat(found)
    end
    n = n - 2
  end
end`;

/** Used keys, and the newest version of each state. */
const onceAndNewest = `
-- 1 if none of the keys was remembered. With only_new those that were keep their end.
local function remember(scope, keys, ttl, only_new)
  local first, at = 1, 1
  while at <= #keys do
    local size, from = match(keys, '^(%d+):()', at)
    at = from + tonumber(size)
    local key = PREFIX..'o:'..scope..sub(keys, from, at - 1)
    if not only_new then call('SET', key, '1', 'PX', ttl)
    elseif not call('SET', key, '1', 'PX', ttl, 'NX') then first = 0 end
  end
  return first
end
local function is_newest(state, version, ttl)
  local known = call('GET', PREFIX..'n:'..state)
  if known and tonumber(known) > tonumber(version) then return false end
  call('SET', PREFIX..'n:'..state, version, 'PX', ttl)
  return true
end`;
