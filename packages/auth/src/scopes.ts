/** The scopes that the claims of a token grant. Pure. */
import type { IssuerConfig } from './issuer-config.ts';
import { type Scope, knownScopes } from './principal.ts';

type Claims = Readonly<Record<string, unknown>>;

const maxValues = 500;

/**
 * Looks up a claim by its name, else by its dotted path: names can contain dots themselves
 * (`https://example.com/roles`).
 */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

function valuesOf(claim: unknown): string[] {
  if (typeof claim === 'string')
    return claim
      .split(' ')
      .filter((value) => value !== '')
      .slice(0, maxValues);
  if (!Array.isArray(claim)) return [];
  return claim.filter((value) => typeof value === 'string').slice(0, maxValues);
}

/**
 * The scopes that a verified token grants: scope values, and the scopes that the issuer's `roleMap` assigns to other
 * values. If it recognises no value, the issuer's `defaultScopes`, or an empty set (rules, 8.2).
 */
export function scopesOf(claims: Claims, config: IssuerConfig): ReadonlySet<Scope> {
  const names = config.scopeClaim === undefined ? ['scope', 'scp', 'permissions'] : [config.scopeClaim];
  const granted = new Set<Scope>();
  let recognised = false;
  for (const value of names.flatMap((name) => valuesOf(claimAt(claims, name)))) {
    const own = knownScopes.find((scope) => scope === value);
    const mapped = config.roleMap && Object.hasOwn(config.roleMap, value) ? config.roleMap[value] : undefined;
    recognised ||= own !== undefined || mapped !== undefined;
    for (const scope of mapped ?? []) granted.add(scope);
    if (own) granted.add(own);
  }
  return recognised ? granted : new Set(config.defaultScopes ?? []);
}
