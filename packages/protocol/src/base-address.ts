/** The base address of a relay, as a person types it and as it is stored. Pure. */

/**
 * The address in stored form; `why` for schemes other than http and https, and for addresses with a user, a query or a
 * fragment.
 */
export function baseAddress(text: string): { address: string } | { why: string } {
  if (!URL.canParse(text)) return { why: 'it is not a URL' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { why: 'it must begin with http:// or https://' };
  if (url.username || url.password || url.search || url.hash) return { why: 'it may contain only host, port and path' };
  return { address: `${url.origin}${url.pathname.replace(/\/+$/, '')}` };
}

/** True when a credential sent to this address could be read on the way: http, and not to this machine. */
export function travelsInClear(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
