/**
 * The only script: executes the operations of one instance for one server in one event-loop tick. It runs as one step,
 * in order, and joins its output to one channel into one message.
 *
 * ARGV is the deadline (Redis, ms since 1970), then operations one after another: a name and its arguments. The answer
 * is the time of the run, then one value per operation; a failed operation is an error among the values and does not
 * affect the others. After the deadline the script returns the time alone.
 *
 * SUBSCRIBE decides who receives the frames of a user. In addition, a list of those instances (`s`) lets frames for
 * many users of one instance leave as one message in the channel of the instance. The list counts only while it is
 * complete; if it is missing, or begins with a question mark, frames go through the channel of the user, which all of
 * the instances subscribe to. Both channels share one connection, so there is one order. The script removes instances
 * that stopped receiving from the list.
 */
import { type Limits, functionsText } from './functions.ts';
import { operations } from './operations.ts';

/** `prefix` begins all keys and channels; `sharded`: in a Redis Cluster, where a script publishes to sharded channels. */
export function scriptText(prefix: string, sharded: boolean, limits: Limits): string {
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
${functionsText(sharded, limits)}

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
