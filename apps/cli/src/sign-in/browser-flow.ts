/**
 * Signs in through the browser: authorization code with PKCE S256 and a loopback redirect, with `state` and `iss` checked
 * (RFC 8252, RFC 7636, RFC 9207). Calls only the relay; the caller provides the user interface.
 */
import * as oauth from 'oauth4webapi';
import { Failure, reasonOf } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import type { Profile } from '../profiles.ts';
import { answerOf, client, clientId, discover, refusalOf, requestOptions } from './issuer.ts';
import { type Loopback, listenForAnswer } from './loopback.ts';

type SignedIn = Pick<Profile, 'accessToken' | 'expiresAt'> & Required<Pick<Profile, 'renewal'>>;

interface BrowserFlow {
  /** Base address of the relay. */
  url: string;
  /** The port for the browser's callback; 0 = any free port. */
  port: number;
  /** Shows this link to the user. */
  onLink: (link: string) => void;
  /** Aborts when the user gives up. */
  signal: AbortSignal;
  waitMs: number;
}

/** Scopes of the program, and a refresh token. No `openid`: GET /api/me returns the account. */
const scope = 'profile email offline_access sessions:read sessions:write devices:read devices:write';

/** Resolves with tokens, or throws a Failure with the reason. The browser window shows the outcome too. */
export async function signInWithBrowser({ url, port, onLink, signal, waitMs }: BrowserFlow): Promise<SignedIn> {
  const issuer = await discover(url);
  if (!issuer.authorization_endpoint || !issuer.token_endpoint) {
    throw new Failure('NOT_A_RELAY', `The sign-in of ${url} does not support programs.`);
  }
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  const loopback = await listenForAnswer(state, port);
  try {
    const link = new URL(issuer.authorization_endpoint);
    const challenge = await oauth.calculatePKCECodeChallenge(verifier);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: loopback.redirectUri,
      scope,
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }))
      link.searchParams.set(name, value);
    onLink(link.href);
    const parameters = await answerWithin(loopback, waitMs, signal);
    const tokens = await redeem(url, issuer, checked(issuer, parameters, state), loopback.redirectUri, verifier);
    await loopback.end({ title: 'You are signed in', text: 'You can close this window and go back to the terminal.' });
    return tokens;
  } catch (error) {
    await loopback.end({ title: 'You are not signed in', text: reasonOf(error) });
    throw error;
  }
}

function answerWithin({ answer }: Loopback, waitMs: number, signal: AbortSignal): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (code: string, message: string, exitCode: number = exitCodes.failed) => {
      end();
      reject(new Failure(code, message, exitCode));
    };
    const onAbort = () => fail('INTERRUPTED', 'The sign-in was cancelled.', exitCodes.interrupted);
    const late = 'The sign-in was not completed within five minutes. Run "relay login" again.';
    const timer = setTimeout(() => fail('SIGN_IN_TIMEOUT', late), waitMs);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    void answer.then((parameters) => {
      end();
      resolve(parameters);
    });
  });
}

/** Checks that the answer comes from this issuer and grants a code. */
function checked(issuer: oauth.AuthorizationServer, parameters: URLSearchParams, state: string): URLSearchParams {
  try {
    // Relays always send `iss`: if it is missing, another server could have answered.
    return oauth.validateAuthResponse(
      { ...issuer, authorization_response_iss_parameter_supported: true },
      client,
      parameters,
      state,
    );
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      if (error.error === 'access_denied') {
        throw new Failure('ACCESS_DENIED', 'Access was denied in the browser. Nothing was changed.');
      }
      throw new Failure(
        'SIGN_IN_REFUSED',
        `The relay refused the sign-in: ${error.error_description ?? error.error}. Run "relay login" again.`,
      );
    }
    throw new Failure('SIGN_IN_REFUSED', `The answer of the browser cannot be trusted: ${reasonOf(error)}.`);
  }
}

async function redeem(
  url: string,
  issuer: oauth.AuthorizationServer,
  parameters: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<SignedIn> {
  const request = oauth.authorizationCodeGrantRequest(
    issuer,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    verifier,
    requestOptions(url),
  );
  const response = await answerOf(url, request);
  let tokens: oauth.TokenEndpointResponse;
  try {
    tokens = await oauth.processAuthorizationCodeResponse(issuer, client, response);
  } catch (error) {
    throw new Failure('SIGN_IN_REFUSED', `The relay issued no token: ${refusalOf(error)}. Run "relay login" again.`);
  }
  if (tokens.refresh_token === undefined) {
    throw new Failure(
      'SIGN_IN_REFUSED',
      `The relay issued no refresh token, so the sign-in would expire within minutes.`,
    );
  }
  return {
    accessToken: tokens.access_token,
    ...expiry(tokens.expires_in),
    renewal: {
      clientId,
      refreshToken: tokens.refresh_token,
      tokenEndpoint: issuer.token_endpoint!,
      ...(issuer.revocation_endpoint === undefined ? {} : { revocationEndpoint: issuer.revocation_endpoint }),
    },
  };
}

/** Converts seconds from now into a time. */
export const expiry = (seconds: number | undefined) =>
  seconds === undefined ? {} : { expiresAt: new Date(Date.now() + seconds * 1000).toISOString() };
