/** Addresses of a relay: as a person types them, as they are stored, and as they are opened. Pure. */
import { Failure, exitCodes } from './failure.ts';

/**
 * A base address as a person types it → how it is stored. Throws a Failure (usage) for anything but http and https, and for
 * an address that carries a user, a query or a fragment.
 */
export function serverAddress(text: string): string {
  const refuse = (why: string) =>
    new Failure(
      'BAD_SERVER',
      `"${text}" is not the address of a relay: ${why}. Example: http://localhost:4000`,
      exitCodes.usage,
    );
  if (!URL.canParse(text)) throw refuse('it is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('it must begin with http:// or https://');
  if (url.username || url.password || url.search || url.hash) throw refuse('it may contain only host, port and path');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** http://host/path → ws://host/path/ws/daemon, and https → wss (specification §4.2: same host). */
export function daemonSocketAddress(server: string): string {
  return `${serverAddress(server).replace(/^http/, 'ws')}/ws/daemon`;
}

/** True when a credential sent to this address could be read on the way. */
export function travelsInClear(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
