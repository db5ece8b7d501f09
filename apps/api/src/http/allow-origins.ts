/** CORS: origins that can open the WebSocket can use REST as well. */
import type { NextFunction, Request, Response } from 'express';
import type { ApiDeps } from '../deps.ts';
import { isAllowedOrigin } from './origins.ts';

export const allowOrigins =
  (config: ApiDeps['config']) => (request: Request, response: Response, next: NextFunction) => {
    const origin = request.get('Origin');
    if (origin === undefined || !isAllowedOrigin(origin, config)) {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Vary', 'Origin');
    response.setHeader(
      'Access-Control-Expose-Headers',
      'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location, Idempotent-Replay, WWW-Authenticate',
    );
    if (request.method !== 'OPTIONS') {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE');
    response.setHeader(
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, Idempotency-Key, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
    );
    response.setHeader('Access-Control-Max-Age', '600');
    response.status(204).end();
  };
