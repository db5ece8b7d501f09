/**
 * The shapes of sign-in bodies. The library checks most of it, but passes some unexpected values on: to the database, whose
 * refusal quotes them, or to its own log.
 */
import { RelayError } from '@relay/protocol';

type Kind = 'text' | 'address' | 'flag' | 'object';

const goOn = {
  oauth_query: 'text',
  callbackURL: 'text',
  errorCallbackURL: 'text',
  newUserCallbackURL: 'text',
} as const;

/** Keyed by path; fields that are missing here are dropped. */
const fields: ReadonlyMap<string, Readonly<Record<string, Kind>>> = new Map<string, Readonly<Record<string, Kind>>>([
  ['/sign-up/email', { email: 'address', password: 'text', name: 'text', invitation: 'text', ...goOn }],
  ['/sign-in/email', { email: 'address', password: 'text', rememberMe: 'flag', ...goOn }],
  ['/sign-in/social', { provider: 'text', invitation: 'text', disableRedirect: 'flag', ...goOn }],
  ['/sign-out', {}],
  ['/update-user', { name: 'text' }],
  ['/change-password', { currentPassword: 'text', newPassword: 'text', code: 'text' }],
  ['/two-factor/enable', { password: 'text' }],
  ['/two-factor/disable', { password: 'text', code: 'text' }],
  ['/two-factor/generate-backup-codes', { password: 'text', code: 'text' }],
  ['/two-factor/verify-totp', { code: 'text', ...goOn }],
  ['/two-factor/verify-backup-code', { code: 'text', ...goOn }],
  ['/passkey/verify-registration', { response: 'object', name: 'text' }],
  ['/passkey/verify-authentication', { response: 'object', ...goOn }],
  ['/passkey/update-passkey', { id: 'text', name: 'text' }],
  ['/passkey/delete-passkey', { id: 'text' }],
  ['/oauth2/consent', { accept: 'flag', scope: 'text', oauth_query: 'text' }],
  ['/relay/confirm', { password: 'text', code: 'text' }],
  ['/relay/invitations', {}],
  ['/relay/invitations/check', { token: 'text' }],
  ['/relay/applications/revoke', { clientId: 'text' }],
  ['/relay/browsers/end', { id: 'text' }],
  ['/relay/sign-out-everywhere', {}],
]);

/** Bodies of programs: anything, as texts and lists of texts. */
const ofPrograms: ReadonlySet<string> = new Set(
  ['token', 'revoke', 'userinfo', 'end-session', 'end-session/confirm'].map((name) => `/oauth2/${name}`),
);

const fits: Record<Kind, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  address: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && !Array.isArray(value),
};
const names: Record<Kind, string> = { text: 'a text', address: 'a text', flag: 'true or false', object: 'an object' };

const refuse = (field: string, what: string): never => {
  throw new RelayError('INVALID_REQUEST', `In the body, "${field}" must be ${what}.`);
};

/**
 * Checks the body of a request to `path` in place.
 * @throws RelayError INVALID_REQUEST
 */
export function checkBody(path: string, body: unknown): void {
  const kinds = fields.get(path);
  if (body === undefined || body === null || (!kinds && !ofPrograms.has(path))) return;
  if (typeof body !== 'object' || Array.isArray(body))
    throw new RelayError('INVALID_REQUEST', 'The body must be an object.');
  const values = body as Record<string, unknown>;
  for (const [field, value] of Object.entries(values)) {
    if (!kinds) {
      if (![value].flat().every((one) => typeof one === 'string')) refuse(field.slice(0, 64), 'a text');
      continue;
    }
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined;
    if (kind === undefined || value === undefined || value === null) delete values[field];
    else if (!fits[kind](value)) refuse(field, names[kind]);
    // Keyboards of phones add a blank after a word that they complete.
    else if (kind === 'address') values[field] = (value as string).trim();
  }
}
