/** The description of a sign-in service: its name, its audience, where its keys are and how its claims become scopes. */
import type { JsonWebKey } from 'node:crypto';
import type { Scope } from './principal.ts';

export type Algorithm = 'ES256' | 'RS256' | 'PS256';

/** Excludes symmetric algorithms, which would let anyone sign with a public key, and `none`, which needs no key. */
export const knownAlgorithms: readonly Algorithm[] = ['ES256', 'RS256', 'PS256'];

/** A public key as published in a key set. */
export type Jwk = JsonWebKey & { kid?: string; use?: string; alg?: string; key_ops?: string[] };

export interface IssuerConfig {
  /** Exactly the claim `iss`. Contains no `|`. */
  issuer: string;
  /** The token must be meant for one of these (claim `aud`). */
  audience: string | string[];
  /** Where the key set is. Absent: found by OpenID Connect discovery, then RFC 8414. */
  jwksUri?: string;
  /** A subset of the three supported algorithms. */
  algorithms?: Algorithm[];
  /**
   * The claim that grants, by its name or by a dotted path (`realm_access.roles`); a text separated by spaces, or a list.
   * Absent: `scope`, `scp` and `permissions`, together.
   */
  scopeClaim?: string;
  /** Scopes that a value of that claim grants, in addition to the scopes themselves. An empty list: recognised, and grants nothing. */
  roleMap?: Record<string, Scope[]>;
  /** Granted to a token without any recognised scope. Absent: such a token grants nothing. */
  defaultScopes?: Scope[];
  /**
   * Its subjects are the accounts of this relay: the subject alone identifies a person, even if the relay moves or its
   * issuer is renamed. At most one issuer; its subjects contain no `|`.
   */
  ownAccounts?: boolean;
  /** Keys of this process, as a constant list, or as a function that replaces the request to an address. Fetches nothing. */
  keys?: Jwk[] | (() => Promise<readonly Jwk[]>);
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Keys can come over https, or over plain http from this very machine. */
export function isTrustedTransport(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
}

/**
 * Refuses invalid and unsafe settings.
 *
 * @throws TypeError that names the issuer: this is a mistake in the configuration, not of a caller with a token.
 */
export function checkIssuers(issuers: readonly IssuerConfig[]): void {
  const seen = new Set<string>();
  if (issuers.filter(({ ownAccounts }) => ownAccounts).length > 1)
    throw new TypeError('only one issuer can speak for the accounts of this relay');
  for (const { issuer, audience, algorithms, jwksUri, keys } of issuers) {
    if (issuer === '' || issuer.includes('|')) throw new TypeError(`"${issuer}" cannot be an issuer`);
    if (seen.has(issuer)) throw new TypeError(`the issuer ${issuer} is configured twice`);
    seen.add(issuer);
    const audiences = [audience].flat();
    if (audiences.length === 0 || audiences.includes('')) throw new TypeError(`the issuer ${issuer} has no audience`);
    if (algorithms && (algorithms.length === 0 || algorithms.some((name) => !knownAlgorithms.includes(name)))) {
      throw new TypeError(`the issuer ${issuer} may use only ${knownAlgorithms.join(', ')}`);
    }
    if (!keys && !isTrustedTransport(jwksUri ?? issuer)) {
      throw new TypeError(`the keys of the issuer ${issuer} must come over https, or over http from this machine`);
    }
  }
}
