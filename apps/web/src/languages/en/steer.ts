/** English texts: messages sent while the agent works. */

const the = (agent: string) => (agent === '' ? 'the agent' : agent);

export const words = {
  steer: {
    now: 'Send now',
    queue: 'Queue',
    hintQueue: 'queue',
    hintNow: 'send now',
    hint: (agent: string) => `Send now reaches ${the(agent)} while it works`,
    sending: 'Sending now…',
    sent: 'Sent while it worked',
    next: 'It had finished, so this came next.',
    dropped: (agent: string) => `${agent || 'The agent'} finished before it read this.`,
    sendIt: 'Send it',
    refused: (agent: string) => `${agent || 'The agent'} can’t take it now. It’s queued.`,
    chip: (text: string) => `Send “${text}” now`,
    stopThenSend: 'Stop, then send this',
  },
};
