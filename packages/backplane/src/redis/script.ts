/**
 * The one script: it carries out the operations that one instance has for one server in one tick of the event loop. It runs as one
 * step, in order, and what it publishes to one channel is one message.
 *
 * ARGV is the time (Redis, ms since 1970) after which it must not run, then operations one after another: a name and its arguments. The
 * answer is the time it ran at, then one value per operation; an operation that failed is an error among the values and affects no
 * other. When it came too late the answer is the time alone.
 *
 * SUBSCRIBE decides who receives the frames of a user. A list of those instances beside it (`s`) lets frames for many users of one
 * instance leave as one message in the channel of the instance. The list counts only while it is complete; without it, or while
 * it begins with a question mark, frames go through the channel of the user, which all of them subscribe to. Both channels come
 * over one connection, so there is one order. An instance that no longer receives is removed from the list.
 */
import type { BackplaneOptions } from '../backplane.ts';
import { historyEntryBytes } from '../user-frames.ts';
import { operations } from './operations.ts';
import { letterOf } from './wire.ts';

/** How long a fence is remembered after its lease ended, so that it rises even if the clock is set back. */
const fenceMemoryMs = 24 * 60 * 60_000;

/**
 * Bytes from which on a body stays apart. Redis hashes every byte of every string that a script makes, more than a nanosecond
 * each: a long body is forwarded as it came, behind its record (`longFrame`), as a message of its own.
 */
const longBodyBytes = 1024;

/** The list of subscribers is made again by them when it is gone. */
const listTtlMs = 24 * 60 * 60_000;

type Limits = Pick<BackplaneOptions, 'leaseTtlMs' | 'historyBytes' | 'historyTtlMs' | 'topTtlMs'>;

/** `prefix` begins all keys and channels; `sharded`: in a Redis Cluster, where a script publishes to sharded channels. */
export function scriptText(prefix: string, sharded: boolean, limits: Limits): string {
  const historyLifeMs = Math.ceil(limits.historyTtlMs * 1.25);
  return `
local PREFIX = '${prefix}'
local PUBLISH, NUMSUB = '${sharded ? 'SPUBLISH' : 'PUBLISH'}', '${sharded ? 'SHARDNUMSUB' : 'NUMSUB'}'
local LEASE_TTL, HISTORY_BYTES = ${limits.leaseTtlMs}, ${limits.historyBytes}
local ARGV = ARGV
local call, match, find, sub, concat = redis.call, string.match, string.find, string.sub, table.concat
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if now > tonumber(ARGV[1]) then return {now} end

local out, count = {now}, 1
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
local function instance_channel(id, instance) return PREFIX..'i:'..${sharded ? `match(id, '^{%d+}')..` : ''}instance end

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
end

-- A lease is 'fence ends instance rest', where rest is 'lengths:fields' of device and connection. A released one ended at 0.
local function read_lease(id)
  local lease = call('GET', PREFIX..'l:'..id)
  if not lease then return nil end
  local fence, ends, instance, rest = match(lease, '^(%d+) (%d+) (%S+) (.*)$')
  return tonumber(fence), tonumber(ends), instance, rest, lease
end
local function write_lease(id, fence, ends, instance, rest)
  local lease = decimal(fence)..' '..decimal(ends)..' '..instance..' '..rest
  call('SET', PREFIX..'l:'..id, lease, 'PX', ${fenceMemoryMs + limits.leaseTtlMs})
end

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
  local before = call('SET', PREFIX..'t:'..id, offset, 'PX', ${limits.topTtlMs}, 'GET') or ''
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
    call('PEXPIRE', key, ${historyLifeMs})
    call('PEXPIRE', PREFIX..'b:'..id, ${historyLifeMs + 60_000})
  end
  -- Trimmed now and then: reading never returns the excess.
  if bytes > ${Math.floor(limits.historyBytes * 1.125)} then trim_history(id, key, bytes) end
  return send_to_user(id, record, long and body)
end
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
end
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
end

local at, following = 2, 2
-- One function, not a table of functions, which would be made again for every call.
local function act(name)
  ${dispatch()}
end
while at <= #ARGV do
  count = count + 1
  local name = ARGV[at]
  local done, value = pcall(act, name)
  if done then out[count] = value
  else
    out[count] = {err = type(value) == 'table' and value.err or tostring(value)}
    if ${breakingChains} then break_chain(ARGV[at + 1], match(ARGV[at + 3], '^%d+')) end
  end
  at = following
end

for n = 1, #channels do flush(channels[n]) end
for n = 1, #places do
  local place, received = places[n], receivers[place_channel[n]]
  if type(out[place]) == 'number' then out[place] = out[place] + received end
  local id = place_user[n]
  if received == 0 and id then
    local instances = subscribers_without(id, place_instance[n])
    redis.pcall('DEL', PREFIX..'s:'..id)
    if #instances > 0 then pcall(save_subscribers, id, instances) end
  end
end
return out
`;
}

/** The rows of the table as branches; each names its arguments and where the next operation begins. */
function dispatch(): string {
  const branches = Object.entries(operations).map(([name, { args, lua }]) => {
    const locals = Object.keys(args);
    const values = locals.map((_, n) => `ARGV[at + ${n + 1}]`);
    return `if name == '${name}' then
    following = at + ${locals.length + 1}
    local ${locals.join(', ')} = ${values.join(', ')}
    ${lua}`;
  });
  return `${branches.join('\n  else')}\n  end`;
}

const breakingChains = Object.entries(operations)
  .filter(([, { breaksChain }]) => breaksChain)
  .map(([name]) => `name == '${name}'`)
  .join(' or ');
