/**
 * The one script: all that one turn of the event loop has to say to one server, as a list of operations. It runs as one step,
 * in order, and what it publishes to one channel is one message.
 *
 * ARGV is the time (Redis, ms since 1970) after which nothing of it may be done any more, then operations one after another:
 * a letter and its arguments. The answer is the time it ran at, then one value per operation; an operation that failed is an
 * error among the values and touches no other. When it came too late the answer is the time alone.
 *
 * Cost in Redis commands besides the EVALSHA itself: append 4 (more now and then), hot frame 1, route 1, claim 2, refresh 2,
 * release 2, and one PUBLISH per channel that was written to in the turn, however much was written.
 *
 * Who listens to a user is what SUBSCRIBE says. A list of those instances beside it (`s`) lets frames for many users of one
 * instance leave as one message in the channel of the instance. The list counts only while it is complete; without it, or while
 * it begins with a question mark, frames go through the channel of the user, in which everybody hears them. Both channels come
 * over one connection, so the order is one. Who is heard no more is taken off the list.
 */
import { type BackplaneOptions, historyEntryBytes } from '../backplane.ts';

/** How long a fence is remembered after its lease ended, so that it rises even if the clock steps back. */
const fenceMemoryMs = 24 * 60 * 60_000;

/**
 * Characters (bytes, for a script) from which on a body stays apart. Redis hashes every byte of every string that a script makes,
 * more than a nanosecond each: a long body is passed on as it came, behind its record (`F`), as a message of its own.
 */
export const longText = 1024;

/** Characters of hot frames for one user and turn that are worth more in a message with those of others than they cost here. */
export const sharedText = 4096;

/** The list is made anew by those who listen when it is gone. */
const listTtlMs = 24 * 60 * 60_000;

/** Entries of a history that are looked at together, from the newest back: who comes back was mostly away for a moment. */
const readTogether = 32;

type Limits = Pick<BackplaneOptions, 'leaseTtlMs' | 'historyBytes' | 'historyTtlMs' | 'topTtlMs'>;

/**
 * Keys: `l` lease "fence until instance lengths:fields" (until 0: released), `h` history, `b` the sum of its sizes, `t` its top, `o` said
 * once, `n` newest version of a state, `v` value for one take, `k` counter, `s` the instances that listen to a user. Channels: `i` instance, `u` user, `c` control.
 */
export function scriptText(prefix: string, sharded: boolean, limits: Limits): string {
  const publish = sharded ? 'SPUBLISH' : 'PUBLISH';
  const subscribers = sharded ? 'SHARDNUMSUB' : 'NUMSUB';
  // May be exceeded by an eighth before the list is cut; nobody gets to read that.
  const { historyBytes } = limits;
  const cutBytes = Math.floor(historyBytes * 1.125);
  const historyLifeMs = Math.ceil(limits.historyTtlMs * 1.25);
  const instanceChannel = sharded ? `P..'i:'..match(id, '^{%d+}')..instance` : `P..'i:'..instance`;
  return `
local P = '${prefix}'
local call, match, find, sub, concat = redis.call, string.match, string.find, string.sub, table.concat
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if now > tonumber(ARGV[1]) then return {now} end

local out, count = {now}, 1
local boxes, channels = {}, {}
-- Whose answer is how many heard it: the place of the answer, the channel, and for frames the user and the instance.
local waiting, heardIn, heardOf, heardBy = {}, {}, {}, {}
local heard = {}
local function flush(channel)
  local box = boxes[channel]
  if #box == 0 then return end
  heard[channel] = call('${publish}', channel, #box == 1 and box[1] or concat(box))
  boxes[channel] = {}
end
local function post(channel, text, body)
  local box = boxes[channel]
  if box then box[#box + 1] = text
  else
    boxes[channel] = {text}
    channels[#channels + 1] = channel
  end
  if body then
    flush(channel)
    call('${publish}', channel, body)
  end
end
local function posted(channel, text, id, instance, body)
  post(channel, text, body)
  local n = #waiting + 1
  waiting[n], heardIn[n], heardOf[n], heardBy[n] = count, channel, id or false, instance or false
  return 0
end
local function text(number) return string.format('%.0f', number) end
local function channelOf(id, instance) return ${instanceChannel} end
local function tell(id, frame, body)
  local listed = call('GET', P..'s:'..id)
  if not listed or sub(listed, 1, 1) == '?' then return posted(P..'u:'..id, frame, false, false, body) end
  if not find(listed, ' ', 1, true) then return posted(channelOf(id, listed), frame, id, listed, body) end
  for instance in string.gmatch(listed, '%S+') do posted(channelOf(id, instance), frame, id, instance, body) end
  return 0
end
local function list(id, instances)
  if #instances == 0 then return call('DEL', P..'s:'..id) end
  local mark = call('PUBSUB', '${subscribers}', P..'u:'..id)[2] == #instances and '' or '?'
  local done = redis.pcall('SET', P..'s:'..id, mark..concat(instances, ' '), 'PX', ${listTtlMs})
  if done.err then call('DEL', P..'s:'..id) end -- Memory is full. Without a list all hear by the channel of the user.
end
-- Those on the list but one, without those who are not there any more.
local function others(id, but)
  local instances = {}
  for instance in string.gmatch(call('GET', P..'s:'..id) or '', '[^ ?]+') do
    if instance ~= but and call('PUBSUB', '${subscribers}', channelOf(id, instance))[2] > 0 then
      instances[#instances + 1] = instance
    end
  end
  return instances
end
local function lease(id)
  local value = call('GET', P..'l:'..id)
  if not value then return nil end
  local fence, ends, instance, rest = match(value, '^(%d+) (%d+) (%S+) (.*)$')
  return tonumber(fence), tonumber(ends), instance, rest, value
end
local function hold(id, fence, ends, instance, rest)
  call('SET', P..'l:'..id, text(fence)..' '..text(ends)..' '..instance..' '..rest, 'PX', ${fenceMemoryMs + limits.leaseTtlMs})
end
local function breakChain(id, length)
  redis.pcall('DEL', P..'t:'..id)
  redis.pcall('DEL', P..'h:'..id)
  redis.pcall('DEL', P..'b:'..id)
  tell(id, 'g'..length..':'..id)
end

-- The list holds for each entry its size, then its record, or with a plus before the size a long body and its record.
local function cut(id, key, bytes)
  local at, kept = 0, bytes
  while kept > ${historyBytes} do
    local size = call('LINDEX', key, at)
    local number = size and tonumber(size)
    if not number then at, kept = -1, 0 break end -- Another release wrote it.
    at, kept = at + (sub(size, 1, 1) == '+' and 3 or 2), kept - number
  end
  if at < 0 then call('DEL', key) else call('LTRIM', key, at, -1) end
  call('DECRBY', P..'b:'..id, bytes - kept)
end

local function append(id, offset, lengths, body)
  local before = call('SET', P..'t:'..id, offset, 'PX', ${limits.topTtlMs}, 'GET') or ''
  local key, length, long = P..'h:'..id, nil, #body > ${longText}
  local size = #body + ${historyEntryBytes}
  local entry = #offset..','..#before..','..lengths..':'..offset..before..id
  if long then
    entry = 'F'..entry
    length = call('RPUSH', key, '+'..size, body, entry)
  else
    entry = 'f'..entry..body
    length = call('RPUSH', key, size, entry)
  end
  local fresh, bytes = length == (long and 3 or 2), size
  if fresh then call('SET', P..'b:'..id, size) else bytes = call('INCRBY', P..'b:'..id, size) end
  -- Offsets end with a letter that changes when it is time to prolong the life of the list.
  if fresh or bytes == size or sub(before, -1) ~= sub(offset, -1) then
    call('PEXPIRE', key, ${historyLifeMs})
    call('PEXPIRE', P..'b:'..id, ${historyLifeMs + 60_000})
  end
  if bytes > ${cutBytes} then cut(id, key, bytes) end
  return tell(id, entry, long and body)
end
local function once(id, ttl, names, again)
  local first, at = 1, 1
  while at <= #names do
    local size, from = match(names, '^(%d+):()', at)
    at = from + tonumber(size)
    local key = P..'o:'..id..sub(names, from, at - 1)
    if again then call('SET', key, '1', 'PX', ttl)
    elseif not call('SET', key, '1', 'PX', ttl, 'NX') then first = 0 end
  end
  return first
end

local function newest(id, version, ttl)
  local known = call('GET', P..'n:'..id)
  if known and tonumber(known) > tonumber(version) then return false end
  call('SET', P..'n:'..id, version, 'PX', ttl)
  return true
end

local arity = {a = 4, z = 7, e = 7, i = 5, h = 2, b = 2, u = 3, y = 2, d = 2, f = 1, c = 3, r = 4, x = 2, o = 1, w = 4, p = 2, q = 1, n = 3, m = 3, g = 1, v = 3, k = 3, s = 3, l = 1}
-- One function and no table of functions: they would be made anew for every call.
local function act(letter, id, a, b, c, d, e, f)
  if letter == 'a' then -- append: id, offset, lengths of id and body, body
    return append(id, a, b, c)
  elseif letter == 'z' then -- append unless said: id, offset, lengths, body, id of what is said, ttl, names
    return once(d, e, f) == 1 and append(id, a, b, c) or -1
  elseif letter == 'e' then -- append unless a newer state was said: id, offset, lengths, body, id of the state, version, ttl
    return newest(d, e, f) and append(id, a, b, c) or -1
  elseif letter == 'i' then -- hot unless a newer state was said: id, record, id of the state, version, ttl
    return newest(b, c, d) and tell(id, a) or -1
  elseif letter == 'h' then -- hot: id, records
    return tell(id, a)
  elseif letter == 'p' then -- probe: channel, text. A cluster that is down lets a PUBLISH pass, and nothing else.
    return posted(id, a)
  elseif letter == 'w' then -- route: id, deadline, lengths, fields
    if now > tonumber(a) then return -2 end
    local fence, ends, instance = lease(id)
    if not fence or ends <= now then return -1 end
    local under = text(fence)
    return posted(channelOf(id, instance), 'c'..#under..','..#a..','..b..':'..under..a..c)
  elseif letter == 'n' then -- once: id, ttl, names, each with its length in bytes before it
    return once(id, a, b)
  elseif letter == 'm' then -- mark: id, ttl, names. As if said just now.
    return once(id, a, b, true)
  elseif letter == 'k' then -- count: id, by, window
    local key = P..'k:'..id
    local left = call('PTTL', key)
    if left > 0 then return {call('INCRBY', key, a), left, call('PEXPIRETIME', key)} end
    if tonumber(a) <= 0 then return {0, 0, 0} end
    call('SET', key, a, 'PX', b)
    return {tonumber(a), tonumber(b), call('PEXPIRETIME', key)}
  elseif letter == 'c' then -- claim: id, instance, lengths:fields
    local fence, ends, owner, rest, value = lease(id)
    local previous, mine = '', now
    if fence then
      if fence >= now then mine = fence + 1 end
      if ends > now then
        previous = ' '..value
        local lengths, fields = match(rest, '^([^:]*):(.*)$')
        local old = text(fence)
        post(channelOf(id, owner), 'e'..#old..','..lengths..':'..old..fields)
      end
    end
    hold(id, mine, now + ${limits.leaseTtlMs}, a, b)
    return text(mine)..previous
  elseif letter == 'r' then -- refresh: id, fence, instance, lengths:fields
    local mine = tonumber(a)
    local fence, ends = lease(id)
    if fence and fence > mine then return 0 end
    if fence ~= mine or ends ~= 0 then hold(id, mine, now + ${limits.leaseTtlMs}, b, c) end
    return 1
  elseif letter == 'x' then -- release: id, fence
    local fence, ends, instance, rest = lease(id)
    if fence ~= tonumber(a) or ends <= now then return 0 end
    hold(id, fence, 0, instance, rest)
    return 1
  elseif letter == 'o' then -- owner: id
    local fence, ends, _, _, value = lease(id)
    return fence and ends > now and value or ''
  elseif letter == 'd' then -- read: id, since. Follows the chain from its top back to what is asked for.
    local top = call('GET', P..'t:'..id) or ''
    if a == '' or a == top then return {top, 1} end
    local key = P..'h:'..id
    local n = call('LLEN', key)
    local low, step, entries = n, ${readTogether}, {}
    local function at(place)
      while place <= low and low > 0 do
        local from = math.max(0, low - step)
        local part = call('LRANGE', key, from, low - 1)
        for m = 1, #part do entries[from + m] = part[m] end
        low, step = from, step * 2
      end
      return entries[place] or ''
    end
    local expected, found, bytes = top, {}, 0
    while n > 1 and expected ~= '' do
      local entry = at(n)
      local kind, size, before, from = match(entry, '^([fF])(%d+),(%d+),%d+,%d+:()')
      if not kind or sub(entry, from, from + size - 1) ~= expected then break end
      if kind == 'F' then
        n = n - 1
        entry = 'f'..sub(entry, 2)..at(n)
      end
      bytes = bytes + (tonumber(at(n - 1)) or ${historyBytes + 1})
      if bytes > ${historyBytes} then break end
      found[#found + 1] = entry
      expected = sub(entry, from + size, from + size + before - 1)
      if expected == a then
        for m = 1, math.floor(#found / 2) do found[m], found[#found + 1 - m] = found[#found + 1 - m], found[m] end
        return {top, 1, concat(found)}
      end
      n = n - 2
    end
    return {top, 0}
  elseif letter == 'f' then -- forget the history, and not its top: id
    return call('DEL', P..'h:'..id)
  elseif letter == 'b' then -- entries may be missing: id, its length
    breakChain(id, a)
    return 0
  elseif letter == 'u' then -- listen: id, instance, length of the id. What comes after this top is heard.
    local instances = others(id, a)
    instances[#instances + 1] = a
    list(id, instances)
    local top = call('GET', P..'t:'..id) or ''
    return posted(channelOf(id, a), 'i'..#top..','..b..':'..top..id)
  elseif letter == 'y' then -- listen no more: id, instance
    if call('EXISTS', P..'s:'..id) == 1 then list(id, others(id, a)) end
    return 0
  elseif letter == 'q' then -- how many hear: channel
    return call('PUBSUB', '${subscribers}', id)[2]
  elseif letter == 'g' then -- take: id
    return {call('GETDEL', P..'v:'..id)}
  elseif letter == 'v' then -- put: id, ttl, value
    call('SET', P..'v:'..id, b, 'PX', a)
    return 1
  end
end

local at = 2
while at <= #ARGV do
  local letter = ARGV[at]
  count = count + 1
  local done, value = pcall(act, letter, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6], ARGV[at + 7])
  if done then out[count] = value
  else
    out[count] = {err = type(value) == 'table' and value.err or tostring(value)}
    -- DEL and PUBLISH are allowed when memory is full: who listens and who comes back is told that something is missing.
    if letter == 'a' or letter == 'z' or letter == 'e' then breakChain(ARGV[at + 1], match(ARGV[at + 3], '^%d+')) end
  end
  at = at + arity[letter] + 1
end

for n = 1, #channels do flush(channels[n]) end
for n = 1, #waiting do
  local place, heard = waiting[n], heard[heardIn[n]]
  if type(out[place]) == 'number' then out[place] = out[place] + heard end
  if heard == 0 and heardOf[n] then
    local instances = others(heardOf[n], heardBy[n])
    redis.pcall('DEL', P..'s:'..heardOf[n])
    if #instances > 0 then pcall(list, heardOf[n], instances) end
  end
end
return out
`;
}
