/** English: words of messages with a time. */
export const words = {
  later: {
    title: 'Later',
    lead: 'Messages that Relay sends at a set time.',
    loading: 'Loading messages…',
    none: 'No messages to send later. Press and hold Send to set a time for one.',
    send: 'Send later',
    close: 'Close',
    hour: 'In 1 hour',
    tonight: (time: string) => `Tonight ${time}`,
    tomorrow: (time: string) => `Tomorrow ${time}`,
    other: 'Date and time',
    zone: (zone: string) => `Your time: ${zone}.`,
    chips: 'Sent later',
    move: (text: string) => `Change the time of “${text}”`,
    remove: (text: string) => `Don’t send “${text}”`,
    edit: (text: string) => `Edit “${text}”`,
    edited: 'Message to send later',
    newTime: 'Change time',
  },
};
