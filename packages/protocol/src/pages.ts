/** The addresses of the pages. The api serves them, and the pages have a component for each. */

/** Pages that need no sign-in. */
export const openPages = ['/setup', '/invite', '/sign-up', '/sign-in', '/consent', '/callback', '/error'] as const;

export const memberPages = [
  '/',
  '/device',
  '/devices',
  '/devices/new',
  '/devices/:id',
  '/sessions',
  '/sessions/new',
  '/sessions/:id',
  '/sessions/:id/changes',
  '/applications',
  '/activity',
  '/usage',
  '/later',
  '/account',
  '/notifications',
  '/notifications/history',
] as const;

export type MemberPage = (typeof memberPages)[number];
