/** The person's account: the routes under `/auth`. Uses the cookie of the sign-in, not tokens. */
import { request } from '@relay/client';
import { requestTimeoutMs } from '../api/bounds.ts';
import type { Place } from '../place.ts';

export interface SignInStatus {
  signUp: 'invite' | 'open' | 'closed';
  hasAccounts: boolean;
  minPasswordLength: number;
  /** Where the operator of the relay is reached: a `mailto:` or https address. */
  contact?: string;
  /** Services that people can sign in with instead of a password. */
  providers: { id: string; name: string }[];
}

export interface Me {
  id: string;
  email: string;
  name: string;
  login: { id: string; createdAt: string; expiresAt: string };
}

export interface Application {
  clientId: string;
  name: string;
  scopes: string[];
  authorizedAt: string;
  lastUsedAt?: string;
  offline: boolean;
}

export interface SignedInBrowser {
  id: string;
  createdAt: string;
  /** To a day. */
  lastUsedAt: string;
  address?: string;
  userAgent?: string;
  isThis: boolean;
}

interface Credentials {
  email: string;
  password: string;
  /** The request of another program that brought the person here. */
  oauth_query?: string;
}

/** The address to continue at, if a program waits. */
export interface GoOn {
  redirect?: boolean;
  url?: string;
  /** The password was correct; the account also requires a code. */
  twoFactorRedirect?: boolean;
}

/** A key on a device of the person that signs in without the password. */
export interface Passkey {
  id: string;
  name: string;
  createdAt: string;
  lastUsedAt?: string;
  /** A password manager takes it to other devices. */
  synced: boolean;
}

export interface SecondFactor {
  on: boolean;
  hasPassword: boolean;
  recoveryCodesLeft?: number;
}

/** The secret for the person's app, as an address `otpauth://`, and recovery codes for losing the app. The person keeps both. */
export interface NewSecondFactor {
  totpURI: string;
  backupCodes: string[];
}

/** A second step; `oauth_query` as with the password. */
interface GivenCode {
  code: string;
  oauth_query?: string;
}

export type Account = ReturnType<typeof createAccount>;

const ceremony = () => import('./passkey-ceremony.ts');

export function createAccount({ publicUrl }: Place) {
  const ask = async <T>(path: string, more: object = {}) =>
    (await request(`${publicUrl}/auth${path}`, { timeoutMs: requestTimeoutMs, ...more })).body as T;
  const get = <T>(path: string) => ask<T>(path);
  const post = <T>(path: string, body: object = {}) => ask<T>(path, { method: 'POST', body });
  return {
    status: () => get<SignInStatus>('/relay/status'),
    checkInvitation: (token: string) =>
      post<{ kind: 'setup' | 'invite'; expiresAt?: string }>('/relay/invitations/check', { token }),
    signUp: (body: Credentials & { name: string; invitation?: string }) => post<GoOn>('/sign-up/email', body),
    signIn: (body: Credentials) => post<GoOn>('/sign-in/email', body),
    /** The address where a person continues, at a service of `providers`. */
    signInAt: (body: {
      provider: string;
      callbackURL: string;
      errorCallbackURL: string;
      invitation?: string;
      oauth_query?: string;
    }) => post<GoOn>('/sign-in/social', body),
    signOut: () => post<unknown>('/sign-out'),
    signOutEverywhere: () => post<unknown>('/relay/sign-out-everywhere'),
    me: () => get<Me>('/relay/me'),
    /** Shows again that it is this person. @throws RelayError INVALID_PASSWORD, SECOND_FACTOR_REQUIRED, INVALID_CODE */
    confirm: (password: string, code?: string) => post<unknown>('/relay/confirm', { password, code }),
    giveCode: (body: GivenCode) => post<GoOn>('/two-factor/verify-totp', body),
    giveRecoveryCode: (body: GivenCode) => post<GoOn>('/two-factor/verify-backup-code', body),
    passkeys: async () => (await get<{ passkeys: Passkey[] }>('/relay/passkeys')).passkeys,
    /** @throws RelayError SIGN_IN_NOT_RECENT, TOO_MANY_PASSKEYS; Refusal of the browser */
    addPasskey: async (name: string) => {
      const { makePasskey } = await ceremony();
      const options = await get<Parameters<typeof makePasskey>[0]>('/passkey/generate-register-options');
      await post<unknown>('/passkey/verify-registration', { name, response: await makePasskey(options) });
    },
    signInWithPasskey: async (more: { oauth_query?: string }) => {
      const { showPasskey } = await ceremony();
      const options = await get<Parameters<typeof showPasskey>[0]>('/passkey/generate-authenticate-options');
      return post<GoOn>('/passkey/verify-authentication', { response: await showPasskey(options), ...more });
    },
    renamePasskey: (id: string, name: string) => post<unknown>('/passkey/update-passkey', { id, name }),
    removePasskey: (id: string) => post<unknown>('/passkey/delete-passkey', { id }),
    secondFactor: () => get<SecondFactor>('/relay/second-factor'),
    /** On with the first code that is given. @throws RelayError INVALID_PASSWORD, as the two after it */
    beginSecondFactor: (password: string) => post<NewSecondFactor>('/two-factor/enable', { password }),
    renewRecoveryCodes: (password: string, code: string) =>
      post<Pick<NewSecondFactor, 'backupCodes'>>('/two-factor/generate-backup-codes', { password, code }),
    turnOffSecondFactor: (password: string, code: string) => post<unknown>('/two-factor/disable', { password, code }),
    rename: (name: string) => post<unknown>('/update-user', { name }),
    /** @throws RelayError INVALID_PASSWORD, SECOND_FACTOR_REQUIRED, INVALID_CODE */
    changePassword: (currentPassword: string, newPassword: string, code?: string) =>
      post<unknown>('/change-password', { currentPassword, newPassword, code, revokeOtherSessions: true }),
    invite: () => post<{ url: string; expiresAt: string }>('/relay/invitations'),
    applications: async () => (await get<{ applications: Application[] }>('/relay/applications')).applications,
    browsers: async () => (await get<{ browsers: SignedInBrowser[] }>('/relay/browsers')).browsers,
    endBrowser: (id: string) => post<unknown>('/relay/browsers/end', { id }),
    revokeApplication: (clientId: string) => post<unknown>('/relay/applications/revoke', { clientId }),
    /** The name of a program that asks for consent. */
    client: (clientId: string) =>
      get<{ client_id: string; client_name?: string }>(
        `/oauth2/public-client?${new URLSearchParams({ client_id: clientId }).toString()}`,
      ),
    consent: (accept: boolean, oauthQuery: string) =>
      post<GoOn>('/oauth2/consent', { accept, oauth_query: oauthQuery }),
  };
}
