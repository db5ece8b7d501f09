/**
 * The relay's own sign-in as an OAuth issuer: discovery, and the common part of all its requests. Initially the program knows
 * only the relay's address and its own client id, `relay-cli`.
 */
import { retryAfterMs } from '@relay/protocol';
import * as oauth from 'oauth4webapi';
import { Failure, fetchWithin, reasonOf } from '@relay/machine';
import { exitCodes, notARelay, unreachable } from '../failure.ts';

export const clientId = 'relay-cli';
export const client: oauth.Client = { client_id: clientId };
const requestTimeoutMs = 15_000;

/** Allows plain http only if the relay's address uses it. */
export const requestOptions = (url: string) => ({
  [oauth.allowInsecureRequests]: url.startsWith('http:'),
  [oauth.customFetch]: fetchWithin(requestTimeoutMs),
});

/**
 * Returns the answer of the sign-in. Throws a temporary Failure if there is no answer, or the relay has a server error: the credential
 * can still be valid.
 */
export async function answerOf(url: string, request: Promise<Response>): Promise<Response> {
  const response = await request.catch((error: unknown) => {
    throw unreachable(url, error);
  });
  if (response.status < 500 && response.status !== 429) return response;
  const waitMs = retryAfterMs(response.headers.get('retry-after'), Date.now());
  const when = waitMs === undefined ? 'later' : `in ${Math.ceil(waitMs / 1000)} s`;
  throw new Failure(
    response.status === 429 ? 'RATE_LIMITED' : 'SERVICE_UNAVAILABLE',
    `The sign-in of ${url} answered ${response.status}. Try again ${when}.`,
    exitCodes.temporary,
    { more: { status: response.status } },
  );
}

/** Returns the reason of a refusal, in the sign-in's own text if it has one. */
export const refusalOf = (error: unknown): string =>
  error instanceof oauth.ResponseBodyError ? (error.error_description ?? error.error) : reasonOf(error);

/** Discovers the relay's sign-in. @throws Failure if it is absent, has another issuer name, or cannot be reached */
export async function discover(url: string): Promise<oauth.AuthorizationServer> {
  const request = oauth.discoveryRequest(new URL(url), { algorithm: 'oidc', ...requestOptions(url) });
  const response = await answerOf(url, request);
  if (response.status === 404) {
    if ((await fieldIn(response, 'code')) !== 'NOT_FOUND') throw notARelay(url, 'it answered 404');
    throw new Failure(
      'SIGN_IN_ELSEWHERE',
      `The relay at ${url} has no sign-in of its own. Get an access token from its identity provider, then run "relay login --token <token>" or set RELAY_CLI_TOKEN.`,
    );
  }
  const issuer = await fieldIn(response.clone(), 'issuer');
  if (issuer !== undefined && URL.canParse(issuer) && new URL(issuer).href !== new URL(url).href) {
    const named = new URL(issuer).href.replace(/\/+$/, '');
    throw new Failure(
      'WRONG_ADDRESS',
      `The relay at ${url} calls itself ${named}. Sign in with that address: relay login --url ${named}`,
      exitCodes.usage,
    );
  }
  let server: oauth.AuthorizationServer;
  try {
    server = await oauth.processDiscoveryResponse(new URL(url), response);
  } catch (error) {
    throw notARelay(url, reasonOf(error));
  }
  for (const name of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'] as const)
    if (server[name] !== undefined) refuseElsewhere(url, name, server[name]);
  return server;
}

/**
 * A page opened in a browser, or an address that receives a secret, must belong to the named relay: same scheme, host and port
 * (rules, 16.6). Otherwise a malicious relay could start any program that has a URL scheme, such as `vscode:`.
 */
function refuseElsewhere(url: string, name: string, address: string): void {
  const { origin } = new URL(url);
  if (URL.canParse(address)) {
    const named = new URL(address);
    const isWeb = named.protocol === 'https:' || named.protocol === 'http:';
    if (isWeb && named.origin === origin && named.username === '' && named.password === '') return;
  }
  throw new Failure(
    'SIGN_IN_ELSEWHERE',
    `The relay at ${url} wants the sign-in to go to ${address.slice(0, 200)} (${name}). That is not an address of ${origin}, so nothing was opened. Check the address of the relay, and contact its operator.`,
  );
}

/** Returns a text from the JSON of an answer; undefined if absent. */
async function fieldIn(response: Response, field: string): Promise<string | undefined> {
  try {
    const value = ((await response.json()) as Record<string, unknown>)[field];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
