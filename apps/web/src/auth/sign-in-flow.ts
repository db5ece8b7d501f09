/**
 * An access token for the sign-in that this browser has: authorization code with PKCE, by two requests and without leaving the
 * page. The verifier and the state live in this call and nowhere else.
 */
import * as oauth from 'oauth4webapi';
import { request } from '@relay/client';
import { requestTimeoutMs } from '../api/bounds.ts';
import { Refusal, refusalOf } from '../api/refusal.ts';
import type { Place } from '../place.ts';

const scopes = 'sessions:read sessions:write devices:read devices:write';

export interface Token {
  text: string;
  expiresAtMs: number;
}

/**
 * Returns a token, or undefined if signed out here.
 * @throws Refusal OFFLINE, TIMEOUT, NO_SIGN_IN (this relay lacks a built-in sign-in), SIGN_IN_FAILED, or the relay's own error
 */
export async function tokenForSignIn(place: Place): Promise<Token | undefined> {
  const { publicUrl } = place;
  const server: oauth.AuthorizationServer = {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/auth/oauth2/authorize`,
    token_endpoint: `${publicUrl}/auth/oauth2/token`,
    authorization_response_iss_parameter_supported: true,
  };
  const client: oauth.Client = { client_id: 'relay-web' };
  const redirectUri = `${publicUrl}/callback`;
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();

  const url = new URL(server.authorization_endpoint!);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope: scopes,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    prompt: 'none',
  }).toString();

  const back = await redirectTarget(url);
  if (`${back.origin}${back.pathname}` !== redirectUri) throw failed('the answer leads elsewhere');
  try {
    const answer = oauth.validateAuthResponse(server, client, back, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      answer,
      redirectUri,
      verifier,
      {
        [oauth.allowInsecureRequests]: publicUrl.startsWith('http:'),
        signal: AbortSignal.timeout(requestTimeoutMs),
      },
    );
    const { access_token: text, expires_in: lifeSeconds = 60 } = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      response,
    );
    return { text, expiresAtMs: Date.now() + lifeSeconds * 1000 };
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError && error.error === 'login_required') return undefined;
    throw explained(error);
  }
}

/** The sign-in answers a fetch with the address instead of a redirect: no frame and no leaving is needed. */
async function redirectTarget(url: URL): Promise<URL> {
  try {
    const { body } = await request(url.href, { timeoutMs: requestTimeoutMs });
    const { url: target } = (body ?? {}) as { url?: unknown };
    if (typeof target !== 'string') throw failed('no address in the answer');
    return new URL(target, url);
  } catch (error) {
    const refusal = refusalOf(error);
    throw refusal.status === 404 ? new Refusal('NO_SIGN_IN', '', 404) : refusal;
  }
}

const failed = (why: string) => new Refusal('SIGN_IN_FAILED', why);

function explained(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof DOMException && error.name === 'TimeoutError') return new Refusal('TIMEOUT', '');
  if (error instanceof TypeError && !(error instanceof oauth.OperationProcessingError))
    return new Refusal('OFFLINE', '');
  if (error instanceof oauth.ResponseBodyError && error.status === 429) return new Refusal('RATE_LIMITED', '', 429);
  return failed(error instanceof Error ? error.message : String(error));
}
