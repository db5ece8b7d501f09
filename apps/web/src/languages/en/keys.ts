/** English texts: the palette and of the keyboard help. */
import { plural } from '../formats.ts';

export const words = {
  keys: {
    goTo: 'Go to',
    field: 'Search sessions, machines and pages',
    hint: 'Session, machine, page…',
    results: 'Results',
    close: 'Close',
    groups: {
      messages: 'In messages',
      pages: 'Pages and actions',
    },
    newSessionWith: (text: string) => `New session “${text}”`,
    connect: 'Connect a machine',
    apps: 'Apps',
    failed: 'Relay can’t be searched right now. These are the sessions that are loaded.',
    found: (count: number) => plural(count, { one: '# result', other: '# results' }),
    help: 'Keyboard shortcuts',
    helpMore: 'Single-key shortcuts work while no field has focus.',
    useKeys: 'Single-key shortcuts',
    everywhere: 'Everywhere',
    inList: 'In the list',
    inSession: 'In a session',
    does: {
      palette: 'Go to a session, machine or page',
      help: 'This list',
      move: 'Next, previous session',
      open: 'Open the session',
      archive: 'Archive the session',
      select: 'Select several sessions',
      send: 'Send',
      line: 'New line',
      commands: 'Commands of the agent',
      answer: 'Allow or reject, while the question has focus',
      then: 'then',
      or: 'or',
    },
  },
};
