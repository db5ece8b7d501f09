/** English texts of messages with a time. */
import { plural } from '../formats.ts';

/** Limits by the name that agents report. */
const limits: Readonly<Record<string, string>> = { five_hour: '5-hour limit', seven_day: 'Weekly limit' };

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
    limitOf: (name: string, agent: string) => `${limits[name] ?? 'Usage limit'}${agent === '' ? '' : ` of ${agent}`}`,
    resets: (time: string) => `resets ${time}`,
    goOn: 'Continue where you stopped.',
    goOnText: 'Message',
    goOnAt: (time: string) => `Continue at ${time}?`,
    goOnThen: (time: string) => `Continue at ${time}`,
    goOnNow: 'Continue now',
    limitOver: 'The limit has reset. Continue?',
    noTime: (agent: string) => `${agent || 'The agent'} didn’t report when the limit resets. Try again later?`,
    inHours: (hours: number) => plural(hours, { one: 'In 1 hour', other: 'In # hours' }),
    otherTime: 'Other time…',
    notNow: 'Not now',
    always: 'Always continue by itself',
    alwaysMore: (agent: string, machine: string) => `${agent} on ${machine}, at most 3 times in a row`,
    byItself: (time: string) => `Continued by itself at ${time}, as you chose.`,
    unlessYouWrite: (machine: string) =>
      `Sent within two minutes of that time, even with this page closed, if ${machine} is online. If you write first, it isn’t sent.`,
  },
};
