/** Renews and revokes the tokens of a sign-in in the browser. Calls the relay's sign-in; accesses no file. */
import * as oauth from 'oauth4webapi';
import { Failure, reasonOf } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import type { Profile } from '../profiles.ts';
import { expiry } from './browser-flow.ts';
import { answerOf, client, refusalOf, requestOptions } from './issuer.ts';

type Renewal = NonNullable<Profile['renewal']>;

const issuerOf = (url: string, renewal: Renewal): oauth.AuthorizationServer => ({
  issuer: url,
  token_endpoint: renewal.tokenEndpoint,
  ...(renewal.revocationEndpoint === undefined ? {} : { revocation_endpoint: renewal.revocationEndpoint }),
});

export const signInAgain = (url: string) => `Run "relay login --url ${url}".`;

/**
 * Returns the profile with a new access token and a new refresh token. Throws a Failure: SIGNED_OUT if the relay no longer accepts the
 * refresh token, a temporary one if the relay cannot decide.
 */
export async function renew(profile: Profile, renewal: Renewal): Promise<Profile> {
  const issuer = issuerOf(profile.url, renewal);
  const options = requestOptions(profile.url);
  const request = oauth.refreshTokenGrantRequest(issuer, client, oauth.None(), renewal.refreshToken, options);
  const response = await answerOf(profile.url, request);
  try {
    const tokens = await oauth.processRefreshTokenResponse(issuer, client, response);
    const { expiresAt: _old, ...kept } = profile;
    return {
      ...kept,
      accessToken: tokens.access_token,
      ...expiry(tokens.expires_in),
      renewal: { ...renewal, refreshToken: tokens.refresh_token ?? renewal.refreshToken },
    };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') {
      throw new Failure(
        'SIGNED_OUT',
        `The sign-in at ${profile.url} has ended: it was revoked, or not used for 30 days. ${signInAgain(profile.url)}`,
        exitCodes.notSignedIn,
      );
    }
    const why = refusalOf(error);
    throw new Failure('RENEWAL_REFUSED', `The relay did not renew the sign-in: ${why}. ${signInAgain(profile.url)}`);
  }
}

/** Revokes the refresh token. @throws Failure if the relay does not confirm */
export async function revoke(profile: Profile, renewal: Renewal): Promise<void> {
  if (renewal.revocationEndpoint === undefined) return;
  const issuer = issuerOf(profile.url, renewal);
  const options = { ...requestOptions(profile.url), additionalParameters: { token_type_hint: 'refresh_token' } };
  const request = oauth.revocationRequest(issuer, client, oauth.None(), renewal.refreshToken, options);
  const response = await answerOf(profile.url, request);
  try {
    await oauth.processRevocationResponse(response);
  } catch (error) {
    // An expired token needs no revocation.
    const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
    if (code === 'invalid_token' || code === 'invalid_grant' || code === 'invalid_request') return;
    throw new Failure('LOGOUT_REFUSED', `The relay did not revoke the sign-in: ${code ?? reasonOf(error)}.`);
  }
}
