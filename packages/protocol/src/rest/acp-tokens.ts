/** Tokens that let ACP clients reach one device over `/acp/<deviceId>` (rules, 18.8). */
import { type Static, Type, id, limits, line, list, maybe, oneOf, record, text, time } from '../schema.ts';

/** Tokens of one person that are valid. */
export const maxAcpTokens = 50;
/** A token expires after this time without use. */
export const acpTokenIdleSeconds = 90 * 24 * 60 * 60;
export const acpScopes = ['sessions:read', 'sessions:write'] as const;

const scopes = Type.Array(oneOf(acpScopes, 'Scope'), {
  description:
    '`sessions:read` allows reading and listing; `sessions:write` also allows prompts, answers and cancelling',
  minItems: 1,
  maxItems: acpScopes.length,
  uniqueItems: true,
});

const token = {
  id: id('Id of the token'),
  deviceId: id('The device that it gives access to'),
  name: line('Name of its client; empty if none was given'),
  scopes,
  createdAt: time('Creation time'),
  usedAt: maybe(time('Time of the latest connection with it')),
  expiresAt: time('Expiry, unless a client uses it before'),
};

export const CreateAcpToken = record('CreateAcpToken', 'Create a token for an ACP client.', {
  deviceId: id('The device that it gives access to'),
  name: maybe(text('Name of its client', { maxLength: limits.nameCharacters })),
  scopes: maybe(scopes),
});

export const CreatedAcpToken = record('CreatedAcpToken', 'The new token. Its secret is shown only once.', {
  ...token,
  url: line('The address to enter in the client'),
  token: line('The secret, as a bearer token'),
});

export const AcpToken = record('AcpToken', 'A token of an ACP client, without its secret.', token);

export const AcpTokenList = record('AcpTokenList', 'Valid tokens of ACP clients.', {
  tokens: list(AcpToken, 'Newest first', { maxItems: maxAcpTokens }),
});

export type AcpScope = (typeof acpScopes)[number];
export type CreateAcpToken = Static<typeof CreateAcpToken>;
export type AcpToken = Static<typeof AcpToken>;
export type CreatedAcpToken = Static<typeof CreatedAcpToken>;
