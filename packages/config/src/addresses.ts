/** Addresses in the environment: ours, those of allowed apps, and trusted proxies. */
import { isIP } from 'node:net';
import type { Parsed } from './variable.ts';

/**
 * The value of express' `trust proxy`: off, a number of hops, or networks. Never `true`: then any caller could choose
 * its own address.
 */
export type TrustProxy = false | number | readonly string[];

const networkNames = ['loopback', 'linklocal', 'uniquelocal'];
export const publicUrlRule = 'an http or https address without user, query and fragment';
export const trustProxyRule =
  'a number of proxies (1 to 10), or a comma list of addresses, networks such as 10.0.0.0/8, loopback, linklocal, uniquelocal';

/** `PUBLIC_URL`: the value has no trailing slash, so that callers can append paths. */
export function publicUrl(given: string): Parsed<string> {
  if (!URL.canParse(given)) return { expected: publicUrlRule };
  const url = new URL(given);
  const plain = url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!plain || !/^https?:$/.test(url.protocol)) return { expected: publicUrlRule };
  return { value: url.href.replace(/\/+$/, '') };
}

/** One entry of `ALLOWED_ORIGINS`, as browsers write it in the header `Origin`. Custom schemes of mobile shells are origins too. */
export function origin(given: string): Parsed<string> {
  const expected = 'an origin such as https://app.example.com, without a path';
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s*]+\/?$/i.test(given) || !URL.canParse(given)) return { expected };
  const url = new URL(given);
  // The standard gives custom schemes the origin "null", browsers send scheme and host.
  return { value: url.origin === 'null' ? given.toLowerCase().replace(/\/$/, '') : url.origin };
}

export const contactRule = 'a mailto: or https address at a public name, because push services refuse others';

/** Names that reach no one outside of this machine or its network. */
const localName = /(?:^|\.)(?:local|localhost|localdomain|internal|intranet|home\.arpa|lan|test|invalid)$/i;

/** Whether push services accept the address as a contact (RFC 8292): Apple refuses every message with another one. */
export function isContact(given: string): boolean {
  if (given.length > 512 || !URL.canParse(given)) return false;
  const { protocol, hostname, pathname } = new URL(given);
  if (protocol !== 'https:' && protocol !== 'mailto:') return false;
  const mailbox = /^[^@\s,]+@([^@\s,]+)$/.exec(pathname)?.[1] ?? '';
  const host = (protocol === 'https:' ? hostname : mailbox).replace(/\.+$/, '');
  return host.includes('.') && isIP(host) === 0 && !host.startsWith('[') && !localName.test(host);
}

/** `PUSH_CONTACT`. */
export const contact = (given: string): Parsed<string> =>
  isContact(given) ? { value: given } : { expected: contactRule };

export const operatorRule = 'a mailto: or https address';

/** `OPERATOR_CONTACT`. People follow it, so it can be an address of their network. */
export function operatorContact(given: string): Parsed<string> {
  const { protocol, pathname } = URL.canParse(given) ? new URL(given) : {};
  const isTaken = protocol === 'https:' || (protocol === 'mailto:' && /^[^@\s]+@[^@\s]+$/.test(pathname ?? ''));
  return isTaken && given.length <= 512 ? { value: given } : { expected: operatorRule };
}

/** One entry of `PUSH_ALLOWED_HOSTS`, in the spelling of `URL.host`, the port always given. */
export function hostAndPort(given: string): Parsed<string> {
  const expected = 'a host with a port, such as ntfy.internal:8080';
  const port = /:(\d{1,5})$/.exec(given)?.[1];
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535 || /[/?#@\s]/.test(given)) return { expected };
  if (!URL.canParse(`http://${given}`)) return { expected };
  return { value: `${new URL(`http://${given}`).hostname}:${Number(port)}` };
}

const vapidRule = 'a comma list of private keys of P-256, 32 bytes in base64url each';

/** `VAPID_PRIVATE_KEY`. */
export const vapidKeys = {
  kind: 'secret' as const,
  accepts: vapidRule,
  secret: true,
  parse: (given: string): Parsed<readonly string[]> => {
    const keys = given.split(',').map((part) => part.trim());
    return keys.every((key) => /^[A-Za-z0-9_-]{43}$/.test(key)) ? { value: keys } : { expected: vapidRule };
  },
};

const serviceRule = 'an https address, or http of this machine';

/** `FCM_URL`, `APNS_URL`. */
export const serviceUrl = {
  kind: 'url' as const,
  accepts: serviceRule,
  parse: (given: string): Parsed<string> => (isSafeAddress(given) ? { value: given } : { expected: serviceRule }),
};

function network(given: string): boolean {
  if (networkNames.includes(given)) return true;
  const [address = '', prefix, ...rest] = given.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** `TRUST_PROXY`: a number of hops, or a comma list of addresses, networks and the names express knows. */
export function trustProxy(given: string): Parsed<TrustProxy> {
  const expected = trustProxyRule;
  if (given === 'off' || given === '0') return { value: false };
  if (/^\d{1,2}$/.test(given)) return Number(given) <= 10 ? { value: Number(given) } : { expected };
  const networks = given
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return networks.length > 0 && networks.every(network) ? { value: networks } : { expected };
}

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Where services live that decide who is who: never reached over a wire that others can write on. */
export function isSafeAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 512 || !URL.canParse(value)) return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}
