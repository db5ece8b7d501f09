/** Authenticates callers: verified people, verified devices, and the secrets that prove them. Knows no route, no socket, no database. */
export { AuthError } from './auth-error.ts';
export { maxTokenLength, bearerFrom } from './credentials.ts';
export { devIssuerFile, openDevIssuer } from './dev-issuer.ts';
export type { DevIssuer } from './dev-issuer.ts';
export {
  createAcpToken,
  createDeviceCode,
  createUserCode,
  deriveDeviceToken,
  createDeviceKey,
  hashAcpToken,
  hashDeviceCode,
  hashDeviceKey,
  hashDeviceToken,
  isAcpToken,
  isDeviceToken,
  normalizeUserCode,
} from './device-token.ts';
export { createDeviceVerifier } from './device-verifier.ts';
export type { DeviceRecord, DeviceVerifier } from './device-verifier.ts';
export type { Algorithm, IssuerConfig, Jwk } from './issuer-config.ts';
export { agentAnswerScope, agentScope, knownScopes, ordinaryScopes, userIdOf } from './principal.ts';
export type { DevicePrincipal, Scope, UserPrincipal } from './principal.ts';
export type { Revocation } from './revocations.ts';
export { createJwtVerifier } from './verify-jwt.ts';
export type { JwtVerifier } from './verify-jwt.ts';
