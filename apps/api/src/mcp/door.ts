/**
 * `/mcp`: the tools of agents over the Model Context Protocol (rules, chapter 19). Streamable HTTP without state: one POST is one request with
 * its answer, and any instance serves any of them. Credential, limits and bounds are here; the protocol is in `protocol.ts`, the tools in `tools.ts`.
 */
import { agentScope } from '@relay/auth';
import { RelayError, limits } from '@relay/protocol';
import type { Express, Request, Response } from 'express';
import type { Operations } from '../deps.ts';
import { networkOfRequest } from '../http/address.ts';
import { requireScopeAt } from '../http/audit.ts';
import { authenticateUser } from '../http/authenticate.ts';
import { bodyReader, jsonIn } from '../http/body.ts';
import { requireAllowedOrigin } from '../http/origins.ts';
import { toRelayError } from '../http/errors.ts';
import { protectedResourceOf } from '../http/protected-resource.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { answerMcp } from './protocol.ts';
import { createTools } from './tools.ts';
import { createWaits } from './wait.ts';

interface AgentDoor {
  /** Answers every call of `wait_for_turn` with the state of its turn, now and from now on. */
  drain(): void;
}

/** Adds `/mcp` to `app`, before the handler of errors. */
export function mountMcp(app: Express, deps: Operations, rateLimits: RateLimits): AgentDoor {
  const readBody = bodyReader(limits.requestBodyBytes);
  const waits = createWaits(deps);
  const tools = createTools(deps, waits);
  const metadata = protectedResourceOf(deps.config.publicUrl, 'mcp');

  /** Points a client to its authorization server (RFC 9728 §5.1). */
  const withMetadata = (error: unknown): unknown => {
    const relayError = toRelayError(error);
    if (relayError.status !== 401 && relayError.code !== 'INSUFFICIENT_SCOPE') return error;
    const kind = { UNAUTHORIZED: '', INSUFFICIENT_SCOPE: 'error="insufficient_scope", ' }[relayError.code as string];
    const challenge = `Bearer ${kind ?? 'error="invalid_token", '}scope="${agentScope}", resource_metadata="${metadata}"`;
    return relayError.withHeaders({ 'WWW-Authenticate': challenge });
  };

  const authenticate = async (request: Request, response: Response) => {
    try {
      return await authenticateUser(request, deps.jwtVerifier);
    } catch (error) {
      await rateLimits.request(response, `address:${networkOfRequest(request)}`);
      throw withMetadata(error);
    }
  };

  app.all('/mcp', async (request: Request, response: Response): Promise<void> => {
    requireAllowedOrigin(request, deps.config);
    if (request.method !== 'POST')
      throw new RelayError('METHOD_NOT_ALLOWED', 'Use POST here: this server keeps no sessions and opens no streams.', {
        headers: { Allow: 'POST' },
      });
    const principal = await authenticate(request, response);
    const payer = `user:${principal.userId}`;
    await rateLimits.request(response, payer);
    try {
      await requireScopeAt(deps, { name: 'mcp', request, response }, principal, agentScope);
    } catch (error) {
      throw withMetadata(error);
    }
    const body = jsonIn(request, await readBody(request, response, payer));
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const caller = { request, response, principal, limits: rateLimits, signal: gone.signal };
    const answer = await answerMcp(request, body, deps, (name, given, meta) => tools(caller, name, given, meta));
    if (gone.signal.aborted) return;
    response.status(answer.status);
    if (answer.body === '') response.end();
    else response.type('json').send(answer.body);
  });

  return { drain: () => waits.drain() };
}
