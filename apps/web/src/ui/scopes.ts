/** The permissions of a program, in words (scopes of the API and of OpenID Connect). */
const words = new Map(
  Object.entries({
    'sessions:read': 'See your sessions and what happens in them',
    'sessions:write': 'Start sessions, send messages, stop and rename',
    'devices:read': 'See your machines',
    'devices:write': 'Approve, rename and remove machines',
    offline_access: 'Stay signed in while you’re away',
    profile: 'See your name',
    email: 'See your email address',
  }),
);

/** One phrase per scope that means something to a person; those it does not know, as they are. */
export const scopeWords = (scopes: readonly string[]): string[] =>
  scopes.filter((scope) => scope !== '' && scope !== 'openid').map((scope) => words.get(scope) ?? scope);
