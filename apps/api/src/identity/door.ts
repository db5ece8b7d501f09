/**
 * The sign-in over HTTP: `/auth/*` and the documents under `/.well-known/*`. Reads bodies by itself and comes before anything
 * that does; hands the library a request whose address and client address no client can forge.
 */
import { RelayError, sentenceOf } from '@relay/protocol';
import type { Express, Request as Incoming, Response as Outgoing } from 'express';
import { networkOfRequest } from '../http/address.ts';
import { bodyReader, jsonIn } from '../http/body.ts';
import {
  agentAudienceOf,
  agentClientId,
  agentDefaultScopes,
  audienceOf,
  isAgentRedirect,
  webClientId,
  webRedirect,
} from './clients.ts';
import { registerClient } from './register-client.ts';
import type { IdentityDeps } from './deps.ts';
import { nameRoute } from '../http/route-of.ts';
import { addressHeader, requestIdHeader } from './audit.ts';
import { type Library, basePath } from './library.ts';
import { addPasskey } from './passkeys.ts';
import type { Resign } from './older-secrets.ts';
import { openRoute } from './open-paths.ts';
import type { LibraryStorage, StorageOutcome } from './storage.ts';

/** The longest body that is needed here is an authorization request. */
const bodyLimitBytes = 64 * 1024;
const documentMaxAgeSeconds = 300;
/** Our endpoint; the library's endpoint stays closed. */
const registrationPath = '/relay/register';

/** Headers that belong to one hop, or that we write. */
const ownHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'host',
  addressHeader,
  requestIdHeader,
]);

/**
 * Most clients name no audience: without it the library gives out tokens that are good for nothing. Programs that run agents ask for the
 * scopes of the tools alone, and without a refresh token their person would sign in every ten minutes.
 */
function withDefaults(url: URL, publicUrl: string): URL {
  if (!url.pathname.endsWith('/oauth2/authorize')) return url;
  const { searchParams: query } = url;
  const isAgent = query.get('client_id') === agentClientId;
  if (!query.has('resource')) query.set('resource', isAgent ? agentAudienceOf(publicUrl) : audienceOf(publicUrl));
  // The library lets any port of a loopback address pass, also for the pages: without an address it refuses.
  const isPages = query.getAll('client_id').some((one) => one.trim() === webClientId);
  if (isPages && query.getAll('redirect_uri').join(' ') !== webRedirect(publicUrl)) query.delete('redirect_uri');
  if (isAgent)
    query.set(
      'scope',
      [...new Set([...(query.get('scope') ?? '').split(' '), ...agentDefaultScopes])].join(' ').trim(),
    );
  return url;
}

function libraryRequest(
  request: Incoming,
  response: Outgoing,
  { body: sent, publicUrl, resign }: { body: Buffer; publicUrl: string; resign: Resign },
): { forwarded: Request; renewed: ReadonlyMap<string, string> } {
  const url = withDefaults(new URL(request.originalUrl, new URL(publicUrl).origin), publicUrl);
  // The proxy removed the path of a PUBLIC_URL with a path.
  url.pathname = new URL(publicUrl).pathname.replace(/\/$/, '') + url.pathname;
  const received = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || ownHeaders.has(name) || name.startsWith('x-forwarded-')) continue;
    received.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const { headers, body, renewed } = resign(received, sent);
  headers.set(addressHeader, networkOfRequest(request));
  headers.set(requestIdHeader, String(response.getHeader('X-Request-Id') ?? ''));
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && body.length > 0;
  const init = { method: request.method, headers, ...(hasBody ? { body: new Uint8Array(body) } : {}) };
  return { forwarded: new Request(url, init), renewed };
}

/** The redirect address of an authorization: in the query, in the signed query that a page sends back, or in the form of a token request. */
function agentRedirectOf(request: Incoming, body: Buffer): string | undefined {
  const signed = request.is('json') && body.includes('oauth_query') ? jsonIn(request, body)['oauth_query'] : undefined;
  const form = request.is('urlencoded') ? body.toString('utf8') : '';
  const [one, ...others] = [
    new URL(request.originalUrl, 'http://relay').search,
    typeof signed === 'string' ? signed : '',
    form,
  ].flatMap((text) => new URLSearchParams(text).getAll('redirect_uri'));
  return others.length === 0 && isAgentRedirect(one) ? one : undefined;
}

/** Refuses input that the library or the database would answer with 500: broken JSON and the character U+0000. @throws RelayError INVALID_REQUEST */
function refuseNonsense(request: Incoming, body: Buffer): void {
  if (request.is(['application/json', '+json'])) jsonIn(request, body);
  // The library would forgive surrounding spaces: an address is known exactly, or it is unknown.
  const redirect = new URL(request.originalUrl, 'http://relay').searchParams.get('redirect_uri') ?? '';
  if (/\s/.test(redirect)) throw new RelayError('INVALID_REQUEST', 'The redirect_uri contains a space.');
  if (request.originalUrl.includes('%00') || body.includes(0) || body.includes('%00'))
    throw new RelayError('INVALID_REQUEST', 'A request may not contain the character U+0000.');
}

/** `renewed`: cookies that go with it unless it sets them itself. */
async function answer(from: Response, to: Outgoing, renewed: ReadonlyMap<string, string>): Promise<void> {
  to.status(from.status);
  for (const [name, value] of from.headers) if (name !== 'set-cookie') to.setHeader(name, value);
  const own = from.headers.getSetCookie();
  const cookies = [...own];
  for (const [name, line] of renewed) if (!own.some((one) => one.startsWith(`${name}=`))) cookies.push(line);
  if (cookies.length > 0) to.setHeader('Set-Cookie', cookies);
  const retryAfter = from.headers.get('x-retry-after');
  if (retryAfter !== null) to.setHeader('Retry-After', retryAfter);
  to.end(Buffer.from(await from.arrayBuffer()));
}

const signsIn = (answer: Response): boolean =>
  answer.status < 400 && answer.headers.getSetCookie().some((cookie) => cookie.includes('.session_token='));

/** Another service is away; the answer names it. */
async function unavailable(answer: Response): Promise<RelayError> {
  const { error } = (await answer.json()) as { error?: string };
  return new RelayError('SERVICE_UNAVAILABLE', error ?? sentenceOf('SERVICE_UNAVAILABLE'), { retryAfter: 5 });
}

const failure = (cause: unknown) => new RelayError('INTERNAL_ERROR', { cause });

/** @throws RelayError SERVICE_UNAVAILABLE if the database was away, regardless of the result; INTERNAL_ERROR without a result */
function wellDone<T>(outcome: StorageOutcome<T>): T {
  if (outcome.unavailable) {
    throw new RelayError('SERVICE_UNAVAILABLE', { retryAfter: 5, cause: outcome.failure });
  }
  if ('error' in outcome) throw failure(outcome.failure ?? outcome.error);
  return outcome.result;
}

/** Adds the routes of the sign-in to `app`, before its other routes. */
export function mountSignIn(
  app: Express,
  library: Library,
  { storage, resign }: { storage: LibraryStorage; resign: Resign },
  deps: IdentityDeps,
): void {
  const { publicUrl } = deps.config;
  const readBody = bodyReader(bodyLimitBytes);

  const serve = async (request: Incoming, response: Outgoing): Promise<void> => {
    const open = openRoute(request.path);
    if (!open) throw new RelayError('NOT_FOUND');
    const { route, methods } = open;
    nameRoute(response, basePath + route);
    if (!methods.includes(request.method)) {
      throw new RelayError('METHOD_NOT_ALLOWED', `Use ${methods.join(' or ')} here.`, {
        headers: { Allow: methods.join(', ') },
      });
    }
    const body = await readBody(request, response, `address:${networkOfRequest(request)}`);
    refuseNonsense(request, body);
    const { forwarded, renewed } = libraryRequest(request, response, { body, publicUrl, resign });
    const work = async () => {
      const again = request.path === '/oauth2/token' ? forwarded.clone() : undefined;
      const first = await library.handler(forwarded);
      // If two renewals race, the slower one finds the token unused but fails: a second attempt returns the faster one's answer.
      return again && first.status === 400 && storage.presented()?.revoked === null ? library.handler(again) : first;
    };
    const outcome = await storage.watch(work, {
      hearsConsent: request.path === '/oauth2/consent',
      headers: forwarded.headers,
      agentRedirect: agentRedirectOf(request, body),
    });
    // A person who got an account is signed in with the same answer; a refusal can also be a redirect to an error page.
    const done = outcome.result !== undefined && !outcome.unavailable && signsIn(outcome.result);
    if (!done) for (const takeBack of outcome.undo.reverse()) await takeBack();
    const result = wellDone(outcome);
    if (result.status === 503) throw await unavailable(result);
    // The library reports a bad request of the device as a fault of the relay.
    if (result.status === 500 && request.path === addPasskey && outcome.failure === undefined)
      throw new RelayError('INVALID_REQUEST', 'The passkey could not be saved. Try again, or with another device.');
    if (result.status >= 500) throw failure(outcome.failure);
    await answer(result, response, renewed);
  };

  const document =
    (read: () => Promise<object>) =>
    async (_request: Incoming, response: Outgoing): Promise<void> => {
      const result = wellDone(await storage.watch(read));
      response.setHeader('Cache-Control', `public, max-age=${documentMaxAgeSeconds}`);
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.json(result);
    };
  // All clients are public; the library does not advertise this, because it does not register clients.
  const advertised = (metadata: object) => ({
    ...metadata,
    registration_endpoint: `${publicUrl}${basePath}${registrationPath}`,
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    introspection_endpoint: undefined,
    introspection_endpoint_auth_methods_supported: undefined,
  });

  app.get(
    '/.well-known/oauth-authorization-server',
    document(async () => advertised(await library.api.getOAuthServerConfig())),
  );
  app.get(
    '/.well-known/openid-configuration',
    document(async () => advertised(await library.api.getOpenIdConfig())),
  );
  app.get(
    `${basePath}/jwks`,
    document(() => library.api.getJwks()),
  );
  app.post(`${basePath}${registrationPath}`, async (request, response) => {
    const body = jsonIn(request, await readBody(request, response, `address:${networkOfRequest(request)}`));
    const { status, body: answered } = registerClient(body);
    response.status(status).json(answered);
  });
  app.use(basePath, serve);
}
