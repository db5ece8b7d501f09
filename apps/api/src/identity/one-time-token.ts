/** Secrets of links. What is stored is the hash. */
import { createHash, randomBytes } from 'node:crypto';

/** 256 bits, base64url. */
export const createToken = (): string => randomBytes(32).toString('base64url');

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
