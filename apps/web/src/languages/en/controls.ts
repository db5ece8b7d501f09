/** English: permissions, model and effort of an agent. */
const named = (unnamed: string) => (agent: string) => (agent === '' || agent === 'demo' ? unnamed : agent);
const the = named('The agent');
const within = named('the agent');

export const words = {
  controls: {
    permissions: (mode: string, danger: boolean) => `Permissions: ${mode}${danger ? ', dangerous' : ''}`,
    model: (model: string, effort: string) => `Model: ${effort === '' ? model : `${model}, ${effort}`}`,
    title: (agent: string) => `${the(agent)}, this session`,
    titleNew: (agent: string) => `${the(agent)}, new session`,
    close: 'Close',
    item: 'Permissions and model',
    opening: (agent: string) => `Opening the session at ${within(agent)}…`,
    none: (agent: string) => `${the(agent)} offers no choices.`,
    heading: { mode: 'Permissions', model: 'Model', thought_level: 'Effort' },
    applies: { now: 'applies at once', next: 'from the next message' },
    more: 'More choices',
    search: 'Search models',
    doesNotAsk: 'Doesn’t ask',
    keep: 'Use for new sessions',
    keepMore: (agent: string, machine: string) => `${the(agent)} on ${machine}`,
    refused: (machine: string, reason: string) => `${machine} didn’t change it. ${reason}`,
    asOf: (when: string) => `As of ${when}. What you choose goes with your next message.`,
    asOfStart: (when: string) => `As of ${when}. What you choose goes with the first message.`,
    never: (agent: string) => `${the(agent)} shows its choices after the first message.`,
    how: 'How it works',
    asLast: (machine: string) => `as last time on ${machine}`,
    on: '{mode} {agent} changes files and runs commands on {machine} without asking.',
    onName: (mode: string) => `${mode}.`,
    onAgent: the,
    dontAsk: (agent: string) => `New sessions with ${within(agent)} here don’t ask.`,
    askAgain: 'Ask again',
    turnOn: (mode: string) => `Turn on ${mode}`,
    turnOnTitle: (mode: string) => `Turn on ${mode}?`,
    turnOnMore:
      '{agent} will change any file and run any command on {machine} without asking you. You won’t be notified of questions, because there won’t be any.',
    turnOnLater:
      '{agent} will change any file and run any command on {machine} without asking you, while you’re not there: {rule}.',
    thisSession: 'This session only',
    thisSessionMore: 'Also after a restart of the machine',
    allSessions: (agent: string, machine: string) => `All new sessions with ${within(agent)} on ${machine}`,
    allSessionsMore: 'Not for schedules',
    cancel: 'Cancel',
  },
};
