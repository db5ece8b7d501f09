/** Addresses of a relay: as a person types them, as they are stored, and as they are opened. Pure. */
import { baseAddress } from '@relay/protocol';
import { Failure } from '@relay/machine';
import { exitCodes } from './exit-codes.ts';

/** A base address as a person types it → how it is stored. Throws a Failure (usage) for anything else. */
export function serverAddress(text: string): string {
  const base = baseAddress(text);
  if ('address' in base) return base.address;
  const message = `"${text}" is not the address of a relay: ${base.why}. Example: http://localhost:4000`;
  throw new Failure('BAD_SERVER', message, exitCodes.usage);
}

/** http://host/path → ws://host/path/ws/daemon, and https → wss (specification §4.2: same host). */
export function daemonSocketAddress(server: string): string {
  return `${serverAddress(server).replace(/^http/, 'ws')}/ws/daemon`;
}
