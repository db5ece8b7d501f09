/** Public documents that need no credential: all of them count in one bucket for each address (rules, 6.10). */
import type { Express, NextFunction, Request, Response } from 'express';
import { networkOfRequest } from './address.ts';
import type { RateLimits } from './rate-limit.ts';

const paths = /^\/(?:auth\/(?:jwks|relay\/register)|\.well-known(?:\/.*)?|install\.sh|relay-daemon\.tgz)\/?$/i;

/** Before the routes that serve them. */
export function limitPublicDocuments(app: Express, rateLimits: RateLimits): void {
  app.use(async (request: Request, response: Response, next: NextFunction) => {
    if (paths.test(request.path)) await rateLimits.request(response, `documents:${networkOfRequest(request)}`);
    next();
  });
}
