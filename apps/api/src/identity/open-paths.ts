/**
 * The reachable paths of the library, below the base path: only the paths that the pages and programs of the relay use; paths
 * added by a newer version stay closed.
 */
const open: ReadonlyMap<string, readonly string[]> = new Map([
  ['/sign-up/email', ['POST']],
  ['/sign-in/email', ['POST']],
  ['/sign-in/social', ['POST']],
  ['/sign-out', ['POST']],
  ['/get-session', ['GET']],
  ['/update-user', ['POST']],
  ['/change-password', ['POST']],
  ['/two-factor/enable', ['POST']],
  ['/two-factor/disable', ['POST']],
  ['/two-factor/verify-totp', ['POST']],
  ['/two-factor/verify-backup-code', ['POST']],
  ['/two-factor/generate-backup-codes', ['POST']],
  ['/passkey/generate-register-options', ['GET']],
  ['/passkey/verify-registration', ['POST']],
  ['/passkey/generate-authenticate-options', ['GET']],
  ['/passkey/verify-authentication', ['POST']],
  ['/passkey/update-passkey', ['POST']],
  ['/passkey/delete-passkey', ['POST']],
  ['/oauth2/authorize', ['GET']],
  ['/oauth2/consent', ['POST']],
  ['/oauth2/public-client', ['GET']],
  ['/oauth2/token', ['POST']],
  ['/oauth2/revoke', ['POST']],
  ['/oauth2/userinfo', ['GET', 'POST']],
  ['/oauth2/end-session', ['GET', 'POST']],
  ['/oauth2/end-session/confirm', ['POST']],
  ['/relay/status', ['GET']],
  ['/relay/me', ['GET']],
  ['/relay/second-factor', ['GET']],
  ['/relay/passkeys', ['GET']],
  ['/relay/confirm', ['POST']],
  ['/relay/invitations', ['POST']],
  ['/relay/invitations/check', ['POST']],
  ['/relay/applications', ['GET']],
  ['/relay/applications/revoke', ['POST']],
  ['/relay/browsers', ['GET']],
  ['/relay/browsers/end', ['POST']],
  ['/relay/sign-out-everywhere', ['POST']],
]);

/** Where other services send people back to. */
const wayBack = /^\/callback\/[a-z0-9-]{1,32}$/;

/** The route of this path, exactly as sent, and the methods that lead into the library; undefined for a closed path. */
export function openRoute(path: string): { route: string; methods: readonly string[] } | undefined {
  const methods = open.get(path);
  if (methods) return { route: path, methods };
  return wayBack.test(path) ? { route: '/callback/:provider', methods: ['GET'] } : undefined;
}
