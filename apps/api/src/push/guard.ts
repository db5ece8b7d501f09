/**
 * The guard of addresses that people give (rules, 14.9): the relay connects to public addresses alone, over https on port 443, unless its
 * operator named the host. A literal address never reaches `lookup`, so it is checked here; names are checked with every connection, on the
 * addresses that the socket then uses.
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { maxAddressCharacters } from '@relay/protocol';
import ipaddr from 'ipaddr.js';

/** Raised by a lookup, for a name that leads into a network that is not public. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

export interface Guard {
  /** The address, or undefined with the reason in `why`. */
  check(address: string): { url: URL } | { why: string };
  /** For a socket to this URL: resolves to public addresses only, unless the host is allowed. */
  lookupFor(url: URL): LookupFunction;
}

type Resolve = (
  host: string,
  then: (error: Error | null, found: { address: string; family: number }[]) => void,
) => void;

const resolveAll: Resolve = (host, then) =>
  systemLookup(host, { all: true }, (error, found) => then(error, error === null ? found : []));

/** False for everything that is not an address of the public internet, in whatever spelling. */
const isPublic = (address: string) => ipaddr.process(address).range() === 'unicast';

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
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (ipaddr.isValid(host) ? !isPublic(host) : !host.includes('.') || /\.(local|internal|localhost)\.?$/.test(host))
        return { why: 'It is not an address of the public internet.' };
      return { url };
    },
    lookupFor: (url) => (host, options, then) => {
      resolve(host, (error, found) => {
        if (error === null && !isAllowed(url) && !found.every(({ address }) => isPublic(address)))
          error = new AddressRefused(`${host} leads into a network that is not public`);
        const [first] = found;
        if (error !== null || first === undefined) then(error ?? new Error(`${host} has no address`), '', 0);
        else if (options.all) then(null, found);
        else then(null, first.address, first.family);
      });
    },
  };
}
