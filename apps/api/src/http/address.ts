/** Whose request this is, as far as TRUST_PROXY lets us know. */
import { isIPv6 } from 'node:net';
import type { HandlerRequest } from './asking.ts';

/** The address itself, for people to read. */
export const addressOf = (request: Pick<HandlerRequest, 'ip' | 'socket'>): string =>
  request.ip ?? request.socket.remoteAddress ?? 'unknown';

/**
 * Returns the network that limits count (rules, 6.11). IPv6: the first 64 bits, as the lowest address in them, since one customer
 * owns all of those. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. Any other text stays unchanged.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%', 1);
  if (!isIPv6(bare)) return address;
  const groups = groupsOf(bare);
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return new URL(
    `http://[${groups
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(':')}::]`,
  ).hostname.slice(1, -1);
}

/** The eight groups of an IPv6 address, however it is written: the parser of URLs knows every way. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before, after] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const given = [...(before ?? []), ...(after ?? [])];
  const zeros = Array.from({ length: 8 - given.length }, () => '0');
  return [...(before ?? []), ...zeros, ...(after ?? [])].map((group) => Number.parseInt(group, 16));
}

export const networkOfRequest = (request: Pick<HandlerRequest, 'ip' | 'socket'>): string =>
  networkOf(addressOf(request));
