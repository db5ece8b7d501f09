/** Whose request this is, as far as TRUST_PROXY lets us know. */
import type { Request } from 'express';

export const addressOf = (request: Request): string => request.ip ?? request.socket.remoteAddress ?? 'unknown';
