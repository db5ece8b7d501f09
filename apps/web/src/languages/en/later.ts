/** English: words of messages with a time. */
export const words = {
  later: {
    title: 'Later',
    lead: 'What is sent by itself, when its time comes.',
    loading: 'Loading what waits…',
    none: 'Nothing waits for its time. Press and hold Send to send a message later.',
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
    edited: 'Message that is sent later',
    newTime: 'Another time',
  },
};
