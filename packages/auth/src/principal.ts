/** The authenticated person or device, independent of the kind of proof. */
export type Scope =
  'sessions:read' | 'sessions:write' | 'devices:read' | 'devices:write' | 'agents:drive' | 'agents:answer';

/** The scopes of people's own programs: all except the scope of agents, which a token has only on request. */
export const ordinaryScopes: readonly Scope[] = ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'];
/** The scope of agents: the tools at `/mcp`, and nothing else. */
export const agentScope: Scope = 'agents:drive';
/** An addition to the scope of agents: sessions that the agent did not start, and permanent answers. */
export const agentAnswerScope: Scope = 'agents:answer';
export const knownScopes: readonly Scope[] = [...ordinaryScopes, agentScope, agentAnswerScope];

/** A person, as a verified access token describes them. */
export interface UserPrincipal {
  readonly kind: 'user';
  /** The account key: `iss|sub`, or the account id alone for the relay's own accounts. An e-mail address never is one. */
  readonly userId: string;
  readonly issuer: string;
  readonly subject: string;
  /** Empty if the token grants nothing. */
  readonly scopes: ReadonlySet<Scope>;
  /** Display only. */
  readonly email?: string;
  /** Display only. */
  readonly name?: string;
  /** The claim `sid`: the sign-in that the token comes from. */
  readonly sessionId?: string;
  /**
   * The claim `chain` of a token of this relay: the sign-in of the program, which the relay revokes separately if one
   * of its refresh tokens was stolen.
   */
  readonly chainId?: string;
  /** The claim `client_id`, else `azp`: the program that the token was given to. */
  readonly clientId?: string;
  /** Milliseconds since 1970, from the claim `iat`; 0 if the claim is missing. */
  readonly issuedAt: number;
  /** Milliseconds since 1970, from the claim `auth_time`: when the person signed in, if the token has it. */
  readonly signedInAt?: number;
  /** Milliseconds since 1970, from the claim `exp`, without tolerance. */
  readonly expiresAt: number;
}

/** A machine that was registered by its owner. */
export interface DevicePrincipal {
  readonly kind: 'device';
  readonly deviceId: string;
  readonly ownerId: string;
  readonly agentType: string;
}

/**
 * The key of a person with an external identity. The issuer is the part before the first `|`: the verifier refuses
 * issuers that contain one, so two different pairs never share a key, for any subject. A key without `|` is an account
 * of this relay.
 */
export function userIdOf(issuer: string, subject: string): string {
  return `${issuer}|${subject}`;
}
