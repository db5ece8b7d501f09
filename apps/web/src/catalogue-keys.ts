/** Every word of the palette and of the keyboard help; the rest is in `catalogue.ts`. */
const isMac = typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.platform);

/** The name of a key on this keyboard. */
export const keyName = (key: string): string => (key === 'Mod' ? (isMac ? '⌘' : 'Ctrl') : key);

export const keyWords = {
  goTo: 'Go to',
  field: 'Search sessions, machines and pages',
  hint: 'Session, machine, page…',
  results: 'Results',
  close: 'Close',
  groups: {
    recent: 'Sessions',
    sessions: 'Sessions',
    messages: 'In messages',
    machines: 'Machines',
    pages: 'Pages and actions',
  },
  newSession: 'New session',
  newSessionWith: (text: string) => `New session “${text}”`,
  connect: 'Connect a machine',
  apps: 'Apps',
  nothing: (text: string) => `Nothing matches “${text}”.`,
  searching: 'Searching…',
  failed: 'Relay can’t be searched right now. These are the sessions that are loaded.',
  found: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  help: 'Keyboard shortcuts',
  helpMore: 'Single keys work while no field has the focus.',
  useKeys: 'Single-key shortcuts',
  everywhere: 'Everywhere',
  inList: 'In the list',
  inSession: 'In a session',
  does: {
    palette: 'Go to a session, machine or page',
    new: 'New session',
    machines: 'Machines',
    sessions: 'Sessions',
    help: 'This list',
    search: 'Search sessions',
    move: 'Next, previous session',
    open: 'Open the session',
    archive: 'Archive the session',
    select: 'Select several sessions',
    send: 'Send',
    sendAlways: 'Send, on touch keyboards too',
    line: 'New line',
    commands: 'Commands of the agent',
    answer: 'Allow, reject, while the question has the focus',
    then: 'then',
    or: 'or',
  },
} as const;
