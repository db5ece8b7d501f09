/**
 * The guard of addresses that people give (rules, 14.9): the relay connects to public addresses alone, over https on port 443, unless its
 * operator named the host. A literal address never reaches `lookup`, so it is checked here; names are checked with every connection, on the
 * addresses that the socket then uses.
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { maxAddressCharacters } from '@relay/protocol';
import ipaddr from 'ipaddr.js';

/** The one reason for an address that is not public, or that does not exist: it does not show which names an inner network has. */
export const notPublic = 'It is not an address of the public internet.';

/** Raised by a lookup, for a name that leads into a network that is not public, or that does not exist. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

export interface Guard {
  /** The address, or undefined with the reason in `why`. */
  check(address: string): { url: URL } | { why: string };
  /** A lookup for sockets to this URL: resolves to public addresses only, unless the host is allowed. */
  lookupFor(url: URL): LookupFunction;
}

type Resolve = (
  host: string,
  then: (error: Error | null, found: { address: string; family: number }[]) => void,
) => void;

const resolveAll: Resolve = (host, then) =>
  systemLookup(host, { all: true }, (error, found) => then(error, error === null ? found : []));

/** Global unicast, the one part of IPv6 that is given out. The rest has addresses of IPv4 in it, or is of a local network. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** True only for addresses of the public internet, in any spelling. */
function isPublic(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** Names that mean this machine or its network. */
const localName = /(?:^|\.)(?:local|localhost|localdomain|internal|intranet|home\.arpa|lan)$/;

const portOf = (url: URL) => url.port || (url.protocol === 'https:' ? '443' : '80');

export function createGuard(allowedHosts: readonly string[], resolve: Resolve = resolveAll): Guard {
  const isAllowed = (url: URL) => allowedHosts.includes(`${url.hostname}:${portOf(url)}`);
  return {
    check: (address) => {
      if (address.length > maxAddressCharacters)
        return { why: `It is longer than ${maxAddressCharacters} characters.` };
      if (!URL.canParse(address)) return { why: 'It is no address.' };
      const url = new URL(address);
      if (url.username !== '' || url.password !== '') return { why: 'It may not hold a user or a password.' };
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return { why: 'It must begin with https://.' };
      if (isAllowed(url)) return { url };
      if (url.protocol !== 'https:' || portOf(url) !== '443') return { why: 'It must be https on port 443.' };
      // A trailing dot does not change the name.
      const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
      if (ipaddr.isValid(host) ? !isPublic(host) : !host.includes('.') || localName.test(host))
        return { why: notPublic };
      return { url };
    },
    lookupFor: (url) => (host, options, then) => {
      resolve(host, (error, found) => {
        if (error === null && !isAllowed(url) && !found.every(({ address }) => isPublic(address)))
          error = new AddressRefused(notPublic);
        // A name of an inner network must look like a name that does not exist.
        if (error !== null && 'code' in error && error.code === 'ENOTFOUND') error = new AddressRefused(notPublic);
        const [first] = found;
        if (error !== null || first === undefined) then(error ?? new AddressRefused(notPublic), '', 0);
        else if (options.all) then(null, found);
        else then(null, first.address, first.family);
      });
    },
  };
}
