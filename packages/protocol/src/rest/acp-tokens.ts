/** Tokens that let ACP clients reach one device over `/acp/<deviceId>` (rules, 18.8). */
import { type Static, Type, id, limits, line, list, maybe, oneOf, record, text, time } from '../schema.ts';

/** Tokens of one person that are valid. */
export const maxAcpTokens = 50;
/** A token expires after this time without use. */
export const acpTokenIdleSeconds = 90 * 24 * 60 * 60;
export const acpScopes = ['sessions:read', 'sessions:write'] as const;

const scopes = Type.Array(oneOf(acpScopes, 'Scope'), {
  description: '`sessions:read` to read and list; with `sessions:write` also to prompt, to answer and to cancel',
  minItems: 1,
  maxItems: acpScopes.length,
  uniqueItems: true,
});

const token = {
  id: id('Id of the token'),
  deviceId: id('The device that it leads to'),
  name: line('The client that it is for; empty if nothing was said'),
  scopes,
  createdAt: time('When it was made'),
  usedAt: maybe(time('When a client was last connected with it')),
  expiresAt: time('Until when it is valid, if no client uses it'),
};

export const CreateAcpToken = record('CreateAcpToken', 'Make a token for an ACP client.', {
  deviceId: id('The device that it leads to'),
  name: maybe(text('The client that it is for', { maxLength: limits.nameCharacters })),
  scopes: maybe(scopes),
});

export const CreatedAcpToken = record('CreatedAcpToken', 'The token, which is shown once.', {
  ...token,
  url: line('The address that the client is given'),
  token: line('The secret, as a bearer token'),
});

export const AcpToken = record('AcpToken', 'A token of an ACP client, without its secret.', token);

export const AcpTokenList = record('AcpTokenList', 'Tokens of ACP clients that are valid.', {
  tokens: list(AcpToken, 'Newest first', { maxItems: maxAcpTokens }),
});

export type AcpScope = (typeof acpScopes)[number];
export type CreateAcpToken = Static<typeof CreateAcpToken>;
export type AcpToken = Static<typeof AcpToken>;
export type CreatedAcpToken = Static<typeof CreatedAcpToken>;
