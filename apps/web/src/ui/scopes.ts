/** What a program may do, in words (scopes of the API and of OpenID Connect). */
const words = new Map(
  Object.entries({
    'sessions:read': 'read your sessions and hear of changes',
    'sessions:write': 'start sessions, send messages, cancel and rename',
    'devices:read': 'see your devices',
    'devices:write': 'approve, rename and remove devices',
    offline_access: 'stay signed in while you are away',
    profile: 'see your name',
    email: 'see your e-mail address',
  }),
);

/** One phrase per scope that means something to a person; those it does not know, as they are. */
export const scopeWords = (scopes: readonly string[]): string[] =>
  scopes.filter((scope) => scope !== '' && scope !== 'openid').map((scope) => words.get(scope) ?? scope);
