/** Origins whose pages can use this relay: REST (CORS), and WebSockets (rules, 11.1). */
import type { IncomingMessage } from 'node:http';
import { RelayError } from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';

/** Origins whose pages can connect: our own and the configured ones. */
export function isAllowedOrigin(origin: string, config: ApiDeps['config']): boolean {
  return origin === new URL(config.publicUrl).origin || config.allowedOrigins.includes(origin);
}

/** @throws RelayError ORIGIN_NOT_ALLOWED */
export function requireAllowedOrigin({ headers: { origin } }: IncomingMessage, config: ApiDeps['config']): void {
  if (origin === undefined || isAllowedOrigin(origin, config)) return;
  throw new RelayError('ORIGIN_NOT_ALLOWED');
}
