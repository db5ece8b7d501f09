/** AUTH_ISSUERS: the sign-in services whose tokens are accepted. Checks the shape; it neither fetches nor verifies anything. */
import { isSafeAddress } from './addresses.ts';
import type { Parsed } from './variable.ts';

type IssuerScope =
  'sessions:read' | 'sessions:write' | 'devices:read' | 'devices:write' | 'agents:drive' | 'agents:answer';
type IssuerAlgorithm = 'ES256' | 'RS256' | 'PS256';

/** One entry of `AUTH_ISSUERS`. The token verifier defines the meaning of absent fields. */
export interface IssuerSettings {
  issuer: string;
  audience: string | string[];
  jwksUri?: string;
  algorithms?: IssuerAlgorithm[];
  scopeClaim?: string;
  roleMap?: Record<string, IssuerScope[]>;
  defaultScopes?: IssuerScope[];
}

const knownScopes: readonly string[] = [
  'sessions:read',
  'sessions:write',
  'devices:read',
  'devices:write',
  'agents:drive',
  'agents:answer',
];
const knownAlgorithms: readonly string[] = ['ES256', 'RS256', 'PS256'];

type Check = (value: unknown) => string | undefined;

export const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 512;
const isListOf = (value: unknown, allowed: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(allowed);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const scopeList: Check = (value) =>
  // An empty list is a role without any scope.
  Array.isArray(value) && value.every((item) => knownScopes.includes(item as string))
    ? undefined
    : `a list of the scopes ${knownScopes.join(', ')}`;

const checks: Readonly<Record<keyof IssuerSettings, Check>> = {
  // A "|" separates issuer and subject in the id of a user, so an issuer must not contain one.
  issuer: (value) =>
    isSafeAddress(value) && !value.includes('|') && !value.includes('?')
      ? undefined
      : 'an https address (http only on this machine), written exactly as in the claim iss',
  audience: (value) => (isText(value) || isListOf(value, isText) ? undefined : 'a text or a list of texts'),
  jwksUri: (value) => (isSafeAddress(value) ? undefined : 'an https address (http only on this machine)'),
  algorithms: (value) =>
    isListOf(value, (item) => knownAlgorithms.includes(item as string))
      ? undefined
      : `a list of ${knownAlgorithms.join(', ')}`,
  scopeClaim: (value) => (isText(value) ? undefined : 'the name of a claim'),
  roleMap: (value) =>
    isObject(value) && Object.values(value).every((scopes) => scopeList(scopes) === undefined)
      ? undefined
      : `an object from the value of the claim to ${scopeList(undefined)}`,
  defaultScopes: scopeList,
};

const required: readonly (keyof IssuerSettings)[] = ['issuer', 'audience'];

function problemOf(entry: unknown, index: number): string | undefined {
  const place = `entry ${index + 1}`;
  if (!isObject(entry)) return `${place} must be an object`;
  const unknown = Object.keys(entry).find((field) => !Object.hasOwn(checks, field));
  if (unknown !== undefined) {
    return `${place} has the unknown field "${unknown.slice(0, 40)}" (known: ${Object.keys(checks).join(', ')})`;
  }
  const missing = required.find((field) => entry[field] === undefined);
  if (missing) return `${place} has no "${missing}"`;
  for (const [field, check] of Object.entries(checks)) {
    const expected = entry[field] === undefined ? undefined : check(entry[field]);
    if (expected) return `"${field}" of ${place} must be ${expected}`;
  }
  return undefined;
}

/** Reads the parsed JSON; the refusal names the entry and the field. */
export function issuers(value: unknown): Parsed<readonly IssuerSettings[]> {
  if (!Array.isArray(value)) return { expected: 'it is not a list' };
  if (value.length > 50) return { expected: 'it has more than 50 entries' };
  for (const [index, entry] of value.entries()) {
    const problem = problemOf(entry, index);
    if (problem) return { expected: problem };
  }
  const entries = value as IssuerSettings[];
  const names = entries.map(({ issuer }) => issuer);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? { value: entries } : { expected: `the issuer ${twice} appears twice` };
}
