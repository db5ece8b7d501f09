/**
 * The relay's own sign-in as OAuth sees it: discovery, and what every request to it has in common. The program knows
 * nothing about the relay beforehand but its address and that it is the client `relay-cli`.
 */
import { retryAfterMs } from '@relay/protocol';
import * as oauth from 'oauth4webapi';
import { Failure, exitCodes, notARelay, reasonOf, unreachable } from '../failure.ts';
import { exchange } from '../http.ts';

export const clientId = 'relay-cli';
export const client: oauth.Client = { client_id: clientId };
const requestTimeoutMs = 15_000;

/** Plain http only to a relay that was addressed with it. */
export const requestOptions = (url: string) => ({
  [oauth.allowInsecureRequests]: url.startsWith('http:'),
  [oauth.customFetch]: send,
});

const send = (url: string, { method, headers, body }: oauth.CustomFetchOptions<string, URLSearchParams | undefined>) =>
  exchange(new URL(url), { method, headers, body: body?.toString(), timeoutMs: requestTimeoutMs });

/**
 * The answer of the sign-in. Throws a Failure (temporary) when there is none, or the relay is in trouble, which says nothing about the
 * credential.
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

/** Why the sign-in refused, in its own words where it has some. */
export const refusalOf = (error: unknown): string =>
  error instanceof oauth.ResponseBodyError ? (error.error_description ?? error.error) : reasonOf(error);

/** Where the relay's sign-in is. Throws a Failure when it has none, calls itself something else, or cannot be reached. */
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
 * A page that is opened in a browser, or an address that gets a secret, belongs to the relay that the person named: same scheme,
 * host and port (rules, 16.6). The program that answers there could otherwise start any program that has an address, such as `vscode:`.
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

/** A text in the JSON of an answer; undefined when there is none. */
async function fieldIn(response: Response, field: string): Promise<string | undefined> {
  try {
    const value = ((await response.json()) as Record<string, unknown>)[field];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
