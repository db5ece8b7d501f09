/** Reads the expiry of a JWT without verifying it, only to schedule its renewal. The relay verifies. */

/** Returns the claim `exp` as ISO 8601; undefined if the text is not a JWT or lacks the claim. */
export function expiryOf(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const exp: unknown = typeof claims === 'object' && claims !== null ? (claims as { exp?: unknown }).exp : undefined;
    return typeof exp === 'number' ? new Date(exp * 1000).toISOString() : undefined;
  } catch {
    return undefined;
  }
}
