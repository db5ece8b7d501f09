/** English texts: an open session. */
import { capital, lasted, listOf, number, plural, size, timeOf } from '../formats.ts';

const the = (agent: string) => (agent === '' ? 'the agent' : agent === 'demo' ? 'the demo agent' : agent);

/** Verbs of tools: the present, and the past. */
const verbs: Readonly<Record<string, readonly [now: string, past: string]>> = {
  read: ['Reading', 'Read'],
  create: ['Creating', 'Created'],
  edit: ['Editing', 'Edited'],
  delete: ['Deleting', 'Deleted'],
  move: ['Moving', 'Moved'],
  search: ['Searching', 'Searched'],
  execute: ['Running', 'Ran'],
  think: ['Thinking', 'Thought'],
  fetch: ['Fetching', 'Fetched'],
  other: ['Using', 'Used'],
};
const verb = (does: string | undefined) => verbs[does ?? ''] ?? verbs['other']!;
/** Several calls as one phrase. */
const calls = (does: string, count: number): string => {
  if (does === 'read') return plural(count, { one: 'read a file', other: 'read # files' });
  if (does === 'search') return count === 2 ? 'searched twice' : plural(count, { one: 'searched', other: 'searched # times' }); // prettier-ignore
  return plural(count, { one: 'fetched a page', other: 'fetched # pages' });
};

export const words = {
  asOf: (time: string) => `As of ${time}.`,
  log: 'Conversation',
  you: 'You',
  agent: 'Agent',
  relay: 'Relay',
  session: 'Session',
  loading: 'Loading the session…',
  gone: 'This session was deleted.',
  bell: {
    title: 'Notifications of this session',
    levels: {
      all: ['Everything', 'Also what is off in Settings'],
      watched: ['As in Settings', 'What you chose for watched sessions'],
      off: ['Off', 'Nothing from this session'],
    },
  },
  nudge: 'Get notified here, even with this page closed.',
  nudgeYes: 'Turn on notifications',
  nudgeNo: 'Not now',
  allSessions: 'All sessions',
  more: 'More',
  title: 'Title',
  archived: 'Archived',
  newSince: (iso: string) => (timeOf(iso) === '' ? 'New' : `New since ${timeOf(iso)}`),
  newBelow: (count: number) => `${number(count)} new`,
  toTheEnd: 'Go to the newest',
  loadEarlier: 'Load earlier messages',
  readers: { newMessage: (speaker: string, text: string) => `${speaker}: ${text}` },
  message: {
    received: 'Received',
    showAll: 'Show all',
    showLess: 'Show less',
    copy: 'Copy text',
    cutUnknown: 'Shortened. All of it is on the machine.',
  },
  thought: {
    now: 'Thinking',
    done: (ms = 0) => (ms < 1000 ? 'Thought' : `Thought for ${lasted(ms)}`),
  },
  code: {
    region: (language: string) => (language === '' ? 'Code' : `Code, ${language}`),
    plain: 'Text',
    copyFailed: 'Can’t copy',
    wrap: 'Wrap lines',
  },
  table: 'Table',
  tool: {
    waiting: 'Waiting',
    failed: 'Failed',
    cancelled: 'Cancelled',
    notRun: 'Not run',
    unknown: 'Unknown',
    rejected: 'Rejected',
    /** The answer, where the state of the call does not show it, and its place. */
    answered: (answer: 'allowed' | 'rejected' | undefined, by = '') => {
      const place = by === 'machine' ? 'at the machine' : by && `on ${by}`;
      return capital(`${answer ?? ''} ${place}`.trim());
    },
    done: 'Done',
    now: (does: string | undefined) => verb(does)[0],
    past: (does: string | undefined) => verb(does)[1],
    exit: (code: number) => `exit ${code}`,
    output: (title: string) => `Output of ${title}`,
    noOutput: 'No output.',
    given: 'Input',
    /** Calls as one line: "Read 3 files, searched twice". */
    folded: (counts: ReadonlyMap<string, number>) => capital(listOf([...counts].map(([does, n]) => calls(does, n)))),
  },
  terminal: {
    all: (lines: number) => `Show all ${number(lines)} lines`,
    last: 'Show the last lines',
    left: (bytes: number) => `${size(bytes)} in the middle are not shown`,
    whole: 'Show all output',
    gone: 'The machine no longer has the rest of this output.',
    failed: 'Couldn’t load the output. Try again.',
  },
  diff: {
    region: (path: string) => `Changes to ${path}`,
    show: (count: number) => plural(count, { one: 'Show # more changed line', other: 'Show # more changed lines' }),
    screen: 'Full screen',
    onScreen: (path: string) => `Full screen, ${path}`,
    close: 'Close',
    next: 'Next file',
    previous: 'Previous file',
    fileOf: (index: number, all: number) => `File ${number(index)} of ${number(all)}`,
    tooLarge: 'Binary or too large to show.',
    noLines: 'No lines changed.',
    moved: (from: string) => `moved from ${from}`,
    added: (count: number) => `${number(count)} added`,
    removed: (count: number) => `${number(count)} removed`,
  },
  plan: {
    title: 'Plan',
    progress: (done: number, all: number) => `${number(done)} of ${number(all)}`,
    done: 'Done:',
    now: 'Now:',
    open: 'To do:',
  },
  image: {
    alt: 'Image',
    larger: 'Enlarge the image',
    smaller: 'Shrink the image',
    ofType: (type: string, bytes: number) => `${type} · ${size(bytes)}`,
  },
  mark: {
    cancelled: 'You stopped the agent here. Everything above is kept.',
    interrupted: 'The agent was interrupted here.',
    compacted: 'The session was summarized to free context.',
    continue: 'Continue',
    goOn: 'Continue where you stopped.',
  },
  unknown: 'This part can’t be shown here.',
  dock: {
    sending: (agent: string) => `Sending to ${the(agent)}`,
    queued: 'Queued',
    stopThis: 'Stop this',
    stopAll: 'Stop and clear',
    stop: 'Stop',
    stopTitle: 'Stop the agent',
    offline: '{machine} is offline. Messages you send wait for it, up to 15 minutes. Start it with {command}',
    startAgain: 'Start again with this message',
    later: 'Waiting for the network. It will be sent automatically.',
    unread: (machine: string) => `${machine} can’t be read right now, so earlier messages can’t be loaded.`,
    message: 'Message',
    messageTo: (agent: string) => `Message ${the(agent)}`,
    queue: 'Add to the queue',
    instead: 'Or tell it what to do instead',
    send: 'Send',
    sendingNow: 'Sending',
    commands: 'commands',
    diffCommand: 'Shows the changes to the files',
    commandsTitle: 'Commands',
    enter: 'send',
  },
};
