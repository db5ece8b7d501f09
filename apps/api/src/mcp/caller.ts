/** The agent that calls a tool, with its request. */
import type { UserPrincipal } from '@relay/auth';
import type { Request, Response } from 'express';
import type { RateLimits } from '../http/rate-limit.ts';

/** The request that a tool is called with, its limits counted and its credential checked. */
export interface Caller {
  readonly request: Request;
  readonly response: Response;
  readonly principal: UserPrincipal;
  readonly limits: RateLimits;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
}
