/** Every word of the conversation, by meaning. Numbers, dates and lists are written in the language of the browser. */
const locale = typeof navigator === 'undefined' ? 'en' : navigator.language;
const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
const formats = {
  time: format({ hour: 'numeric', minute: '2-digit' }),
  day: format({ weekday: 'long', day: 'numeric', month: 'long' }),
  year: format({ day: 'numeric', month: 'long', year: 'numeric' }),
  full: format({ dateStyle: 'medium', timeStyle: 'short' }),
};
const whole = new Intl.NumberFormat(locale);
const list = new Intl.ListFormat(locale, { type: 'unit', style: 'short' });
const counted = (count: number, one: string, more: string) => (count === 1 ? one : `${whole.format(count)} ${more}`);
/** One by its name, many by their number. */
const these = (title: string | undefined, count: number) =>
  title === undefined ? counted(count, '1 session', 'sessions') : `“${title}”`;
const valid = (iso: string) => !Number.isNaN(Date.parse(iso));

export const number = (value: number): string => whole.format(value);
export const timeOf = (iso: string): string => (valid(iso) ? formats.time.format(new Date(iso)) : '');
export const fullTime = (iso: string): string => (valid(iso) ? formats.full.format(new Date(iso)) : '');

/** A local day as a key; empty for a time that is none. */
export const dayKey = (iso: string): string => (valid(iso) ? new Date(iso).toDateString() : '');
export function dayOf(iso: string, now = new Date()): string {
  if (!valid(iso)) return '';
  const at = new Date(iso);
  const days = Math.round(
    (new Date(now.toDateString()).getTime() - new Date(at.toDateString()).getTime()) / 86_400_000,
  );
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return (at.getFullYear() === now.getFullYear() ? formats.day : formats.year).format(at);
}

const weekday = format({ weekday: 'short' });
const dayMonth = format({ day: 'numeric', month: 'short' });
const shortUnit = (value: number, unit: string) =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'narrow' }).format(value);
/** `now`, `4m`, `9:12`, `Fri`, `12 Oct`: how long ago, in as few signs as a list has room for. */
export function shortAgo(iso: string, nowMs: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return '';
  const minutes = Math.floor((nowMs - at) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return shortUnit(minutes, 'minute');
  if (new Date(at).toDateString() === new Date(nowMs).toDateString()) return timeOf(iso);
  return (nowMs - at < 6 * 86_400_000 ? weekday : dayMonth).format(new Date(at));
}

/** `8s`, `1m 12s`, `2h 5m`. */
export function lasted(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** `512 bytes`, `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return counted(bytes, '1 byte', 'bytes');
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(value)} ${unit}`;
}

const agents: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  claude_code: 'Claude Code',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
  cursor: 'Cursor',
  demo: 'the demo agent',
};
/** The name of the product, never its key. */
export const agentName = (type: string): string => agents[type.toLowerCase()] ?? 'the agent';
const capital = (text: string) => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);

/** Verbs of tools: what is done now, what was done. */
const verbs: Readonly<Record<string, readonly [now: string, done: string]>> = {
  read: ['Reading', 'Read'],
  edit: ['Editing', 'Edited'],
  delete: ['Deleting', 'Deleted'],
  move: ['Moving', 'Moved'],
  search: ['Searching', 'Searched'],
  execute: ['Running', 'Ran'],
  think: ['Thinking', 'Thought'],
  fetch: ['Fetching', 'Fetched'],
  other: ['Using', 'Used'],
};

export const words = {
  shell: {
    skip: 'Skip to content',
    reconnecting: 'Reconnecting in',
    retryNow: 'Retry now',
    signingIn: 'Signing you in…',
    main: 'Main',
    sessions: 'Sessions',
    machines: 'Machines',
    settings: 'Settings',
    needsYou: (count: number) => `${whole.format(count)} ${count === 1 ? 'session needs' : 'sessions need'} you`,
    newAccess: 'New access to your account',
    access: 'was given access',
    notYou: 'Not you?',
    removeMachine: 'Remove it under Machines',
    revokeApp: 'Revoke it under Apps',
    dismissAccess: (name: string) => `Dismiss the notice about ${name}`,
    onlineOf: (online: number, all: number) => `${whole.format(online)} of ${whole.format(all)} online`,
  },
  list: {
    title: 'Sessions',
    loading: 'Loading sessions…',
    search: 'Search sessions',
    filter: 'Filter and group',
    newSession: 'New session',
    needsYou: 'Needs you',
    choices: (count: number) => (count === 0 ? 'Answer' : counted(count, '1 choice', 'choices')),
    review: 'Review',
    allowing: 'Allowing…',
    rejecting: 'Rejecting…',
    groupBy: 'Group by',
    by: { project: 'Project', day: 'Day', machine: 'Machine' },
    show: 'Show',
    machine: 'Machine',
    allMachines: 'All machines',
    archivedOnes: 'Archived',
    oneMachine: 'One machine',
    status: 'State',
    allStates: 'All states',
    clear: 'Clear',
    clearFilter: 'Clear filter',
    otherDay: 'Earlier',
    none: 'No sessions yet',
    noneMore: 'Start one, and it appears here.',
    noneYet: 'They appear here once a machine is connected.',
    noneArchived: 'No archived sessions',
    noneLikeThis: 'No sessions like this',
    noResult: 'No session matches',
    noResultMore: (text: string) =>
      `No title, folder or last message has words that begin with “${text.length > 60 ? `${text.slice(0, 60)}…` : text}”.`,
    searching: 'Searching…',
    found: (count: number) => counted(count, '1 session found', 'sessions found'),
    clearSearch: 'Clear search',
    pick: 'Pick a session, or start one',
    pickKeys: ['Press', 'for a new session,', 'to move through the list.'],
    more: (title: string) => `More for ${title}`,
    rename: 'Rename',
    archive: 'Archive',
    unarchive: 'Unarchive',
    remove: 'Delete',
    removing: 'Deleting…',
    removed: (title: string | undefined, count: number) => `Deleted ${these(title, count)}`,
    archivedNow: (title: string | undefined, count: number) => `Archived ${these(title, count)}`,
    unarchivedNow: (title: string | undefined, count: number) => `Unarchived ${these(title, count)}`,
    undo: 'Undo',
    pinned: 'Pinned',
    pin: 'Pin',
    unpin: 'Unpin',
    markRead: 'Mark as read',
    markUnread: 'Mark as unread',
    select: 'Select',
    selectMany: 'Select sessions',
    selection: 'Selected sessions',
    selected: (count: number) => `${whole.format(count)} selected`,
    selectAll: (count: number) => `Select all ${whole.format(count)}`,
    endSelection: 'Done selecting',
    deleteArchived: 'Delete all archived…',
    deleteArchivedTitle: 'Delete all archived sessions?',
    deleteArchivedMore: 'They disappear from Relay. Files and history on the machines stay.',
    state: {
      news: 'New',
      pending: 'Starting',
      active: 'Working',
      waiting: 'Needs you',
      idle: 'Done',
      failed: 'Failed',
      queued: 'Waiting',
    },
    waitingFor: (machine: string) => `Waiting for ${machine}`,
    stopped: 'Stopped with an error',
    starting: 'Starting',
    working: 'Working',
    offline: (machine: string) => `${machine} · offline`,
  },
  log: 'Conversation',
  you: 'You',
  agent: 'Agent',
  relay: 'Relay',
  untitled: 'New session',
  session: 'Session',
  recentFolders: 'Recent folders',
  loading: 'Loading the session…',
  back: 'All sessions',
  gone: 'This session was deleted.',
  notify: 'Notify me about this session',
  stopNotifying: 'Stop notifying me about this session',
  nudge: 'Get notified here, even with this page closed.',
  nudgeYes: 'Turn on notifications',
  nudgeNo: 'Not now',
  allSessions: 'All sessions',
  more: 'More',
  rename: 'Rename',
  title: 'Title',
  save: 'Save',
  saving: 'Saving…',
  cancel: 'Cancel',
  archive: 'Archive',
  unarchive: 'Unarchive',
  pin: 'Pin',
  unpin: 'Unpin',
  archived: 'Archived',
  online: 'online',
  offline: 'offline',
  retry: 'Try again',
  newSince: (iso: string) => (timeOf(iso) === '' ? 'New' : `New since ${timeOf(iso)}`),
  newBelow: (count: number) => `${whole.format(count)} new`,
  toTheEnd: 'Go to the newest',
  loadEarlier: 'Load earlier messages',
  loadingEarlier: 'Loading earlier messages…',
  readers: { newMessage: (speaker: string, text: string) => `${speaker}: ${text}` },

  message: {
    received: 'Received',
    showAll: 'Show all',
    showLess: 'Show less',
    copy: 'Copy text',
    cut: (bytes: number) => `Shortened: ${size(bytes)} are shown. All of it is on the machine.`,
    cutUnknown: 'Shortened. All of it is on the machine.',
  },
  thought: {
    now: 'Thinking',
    done: (ms: number | undefined) => (ms === undefined ? 'Thought' : `Thought for ${lasted(ms)}`),
  },
  code: {
    region: (language: string) => (language === '' ? 'Code' : `Code, ${language}`),
    plain: 'Text',
    copy: 'Copy',
    copied: 'Copied',
    copyFailed: 'Can’t copy',
    wrap: 'Wrap lines',
  },
  table: 'Table',
  toDo: 'To do:',
  isDone: 'Done:',
  tool: {
    waiting: 'Waiting',
    failed: 'Failed',
    cancelled: 'Cancelled',
    interrupted: 'Interrupted',
    rejected: 'Rejected',
    byYou: 'by you',
    done: 'Done',
    now: (does: string | undefined) => (verbs[does ?? ''] ?? verbs['other']!)[0],
    past: (does: string | undefined) => (verbs[does ?? ''] ?? verbs['other']!)[1],
    exit: (code: number) => `exit ${code}`,
    output: (title: string) => `Output of ${title}`,
    noOutput: 'No output.',
    given: 'Input',
    /** Of calls that are one line: "Ran 4 commands, read 3 files". */
    folded: (counts: ReadonlyMap<string, number>) => {
      const phrases = [...counts].map(([does, count]) => {
        if (does === 'execute') return counted(count, 'ran a command', 'commands').replace(/^(\d)/, 'ran $1');
        if (does === 'read') return counted(count, 'read a file', 'files').replace(/^(\d)/, 'read $1');
        if (does === 'search')
          return count === 1 ? 'searched' : count === 2 ? 'searched twice' : `searched ${whole.format(count)} times`;
        if (does === 'fetch') return counted(count, 'fetched a page', 'pages').replace(/^(\d)/, 'fetched $1');
        return counted(count, 'used a tool', 'tools').replace(/^(\d)/, 'used $1');
      });
      return capital(list.format(phrases));
    },
  },
  terminal: {
    all: (lines: number) => `Show all ${whole.format(lines)} lines`,
    last: 'Show the last lines',
    left: (bytes: number) => `${size(bytes)} in the middle are not shown`,
    whole: 'Show all output',
    gone: 'The machine no longer has the rest of this output.',
    failed: 'Couldn’t load the output. Try again.',
  },
  diff: {
    region: (path: string) => `Changes to ${path}`,
    lines: (count: number) => counted(count, '1 line', 'lines'),
    show: (count: number) => `Show ${counted(count, '1 changed line', 'changed lines')}`,
    screen: 'Full screen',
    onScreen: (path: string) => `Full screen, ${path}`,
    close: 'Close',
    next: 'Next file',
    previous: 'Previous file',
    fileOf: (index: number, all: number) => `File ${whole.format(index)} of ${whole.format(all)}`,
    tooLarge: 'Binary or too large to show.',
    moved: (from: string) => `moved from ${from}`,
    added: (count: number) => `${whole.format(count)} added`,
    removed: (count: number) => `${whole.format(count)} removed`,
  },
  plan: {
    title: 'Plan',
    progress: (done: number, all: number) => `${whole.format(done)} of ${whole.format(all)}`,
    done: 'Done:',
    now: 'Now:',
    open: 'To do:',
  },
  image: {
    alt: 'Image',
    larger: 'Enlarge the image',
    smaller: 'Shrink the image',
    ofType: (mime: string, bytes: number) => [mime.replace('image/', '').toUpperCase(), size(bytes)].join(' · '),
  },
  question: {
    asks: (agent: string) => `${capital(agent)} asks`,
    wantsCommand: (machine: string | undefined) =>
      machine === undefined ? 'Wants to run a command' : `Wants to run a command on ${machine}`,
    wantsEdit: (files: number) => (files > 1 ? `Wants to edit ${whole.format(files)} files` : 'Wants to edit a file'),
    wantsTool: (tool: string | undefined) => (tool === undefined ? 'Asks for permission' : `Wants to use ${tool}`),
    allowOnce: 'Allow once',
    allowAlways: 'Always allow',
    reject: 'Reject',
    next: 'Next',
    send: 'Send answer',
    back: 'Back',
    of: (index: number, all: number) => `question ${whole.format(index)} of ${whole.format(all)}`,
    somethingElse: 'Something else',
    ownWords: 'Say it in your own words',
    dismiss: 'Dismiss the question',
    dismissing: 'Dismissing…',
    answered: 'Answered:',
    expired: (title: string) => `“${title}” The agent went on without an answer.`,
    expiredTitle: 'Expired:',
    on: (by: string) => `on ${by}`,
    superseded: 'Replaced:',
    cancelled: 'Withdrawn:',
    waiting: 'Asked:',
  },
  error: { agent: 'The agent stopped with an error.' },
  mark: {
    cancelled: 'You stopped the agent here.',
    kept: 'Everything above is kept.',
    interrupted: 'The agent was interrupted here.',
    compacted: 'The session was summarized to free context.',
  },
  unknown: 'This part can’t be shown here.',
  queue: {
    title: 'Queued messages',
    edit: (text: string) => `Edit “${text.slice(0, 80)}”`,
    remove: (text: string) => `Remove “${text.slice(0, 80)}”`,
    edited: 'Queued message',
    stopThis: 'Stop this',
    stopAll: 'Stop and clear the queue',
  },
  dock: {
    working: 'Working',
    sending: (agent: string) => `Sending to ${agent}`,
    queued: 'Queued',
    waiting: (machine: string) => `Waiting for ${machine}`,
    stop: 'Stop',
    stopTitle: 'Stop the agent',
    stopping: 'Stopping…',
    stopped: 'You stopped the agent here.',
    offline: (machine: string) => `${machine} is offline.`,
    offlineMore: 'Messages you send wait for it, up to 15 minutes.',
    howToStart: 'Start it with',
    unread: (machine: string) => `${machine} can’t be read right now, so earlier messages can’t be loaded.`,
    message: 'Message',
    messageTo: (agent: string) => `Message ${agent}`,
    queue: 'Add to the queue',
    instead: 'Or tell it what to do instead',
    send: 'Send',
    sendingNow: 'Sending',
    addImages: 'Add images, up to 5 MB each',
    commands: 'commands',
    commandsTitle: 'Commands',
    enter: 'send',
  },
} as const;
