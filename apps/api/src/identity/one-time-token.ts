/** Secrets of links. Only the hash is stored. */
import { createHash, randomBytes } from 'node:crypto';

/** 256 bits, base64url. */
export const createToken = (): string => randomBytes(32).toString('base64url');

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
