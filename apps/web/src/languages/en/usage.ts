/** English texts: the figures of use. */
import { capital, number, plural } from '../formats.ts';

const the = (agent: string) => (agent === '' ? 'the agent' : agent === 'demo' ? 'the demo agent' : agent);
const limits: Readonly<Record<string, string>> = {
  five_hour: '5 hours',
  seven_day: 'This week',
  seven_day_opus: 'This week, Opus',
  seven_day_sonnet: 'This week, Sonnet',
  overage: 'Extra usage',
};

export const words = {
  usage: {
    title: 'Usage',
    ring: (percent: number | undefined) => (percent === undefined ? 'Usage' : `Context ${percent}% full. Usage`),
    beside: (percent: number) => `Context ${percent}%`,
    close: 'Close',
    share: (percent: number) => `${percent}% of the context`,
    tokens: (used: number, size: number | undefined) =>
      size === undefined ? `${number(used)} tokens` : `${number(used)} of ${number(size)} tokens`,
    compact: 'Compact',
    session: 'This session',
    today: 'Today, all machines',
    estimated: (agent: string) => `Estimated by ${the(agent)} at API prices. A plan may already cover it.`,
    noCost: (agent: string) => `${capital(the(agent))} doesn’t report cost.`,
    limits: 'Plan limits',
    noLimits: (agent: string) => `${capital(the(agent))} doesn’t report limits.`,
    limit: (id: string, name: string) => limits[id] ?? name,
    limitFacts: (percent: number | undefined, resets: string | undefined) =>
      [percent === undefined ? '' : `${percent}%`, resets === undefined ? '' : `resets ${resets}`]
        .filter(Boolean)
        .join(' · '),
    from: (agent: string, machine: string, when: string) => `From ${the(agent)} on ${machine}, ${when}`,
    askMe: 'Ask me at',
    askMeOf: (isSession: boolean, where: string) => `${isSession ? 'a session' : 'a day'}, ${where}`,
    never: 'Never',
    where: (agent: string, machine: string) => `${the(agent)} on ${machine}`,
    byDay: 'Usage by day',
    lead: 'Turns, cost and tokens of your agents in the last 30 days. The figures stay on your machines; costs are estimates of the agents.',
    loading: 'Loading figures…',
    missing: (machine: string) => `${machine} is offline; its figures are missing.`,
    unread: (machine: string) => `The figures of ${machine} can’t be read right now.`,
    none: 'No figures yet.',
    bars: (isCost: boolean): string => (isCost ? 'Cost by day' : 'Turns by day'),
    turnsOf: (count: number) => plural(count, { one: '# turn', other: '# turns' }),
    columns: { agent: 'Machine and agent', turns: 'Turns', cost: 'Cost', tokens: 'Tokens' },
    agent: (agent: string) => capital(the(agent)),
  },
};
