/** `relay schedule`: messages that repeat. */
import type { Schedule, ScheduleRun } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findDevice, findSession, nameOf } from '../naming.ts';
import type { Relay } from '../relay.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { clockTime } from '../show/times.ts';
import { type ChoiceOptions, choicesOf, confirmChoices } from './choices.ts';
import { type Context, contextOf } from './context.ts';
import { messageOf } from './message.ts';

interface ScheduleOptions extends CommonOptions, ChoiceOptions {
  cron?: string;
  zone?: string;
  wait?: string;
  session?: string;
  project?: string;
  title?: string;
  agent?: string;
  times?: string;
  from?: string;
  until?: string;
}

const actions = ['list', 'add', 'runs', 'run', 'pause', 'resume', 'change', 'remove'] as const;

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** `2h`, `30m`, `0`. */
function waitOf(typed = '2h'): number {
  const found = /^(\d+)([smh]?)$/.exec(typed);
  if (!found)
    throw usage('--wait must be a duration such as 30m or 2h, or 0 to skip a run while the device is offline.');
  return Number(found[1]) * (unitSeconds[found[2]!] ?? 1);
}

const timeOf = (name: string, typed: string): string => {
  const at = new Date(typed);
  if (Number.isNaN(at.getTime())) throw usage(`${name} must be a time such as 2027-03-01T09:00:00Z.`);
  return at.toISOString();
};

/** The given fields of a rule. */
function ruleOf({ cron, zone, wait, title, project, agent, times, from, until }: ScheduleOptions) {
  if (times !== undefined && !/^[1-9]\d{0,4}$/.test(times)) throw usage('--times must be a number of runs.');
  return {
    ...(cron === undefined ? {} : { cron }),
    ...(zone === undefined ? {} : { zone }),
    ...(wait === undefined ? {} : { waitSeconds: waitOf(wait) }),
    ...(title === undefined ? {} : { title }),
    ...(project === undefined ? {} : { projectPath: project }),
    ...(agent === undefined ? {} : { agentType: agent }),
    ...(times === undefined ? {} : { times: Number(times) }),
    ...(from === undefined ? {} : { from: timeOf('--from', from) }),
    ...(until === undefined ? {} : { until: timeOf('--until', until) }),
  };
}

const shortId = (id: string) => id.slice(-8);
const nextOf = ({ nextAt, pausedFor }: Schedule) =>
  nextAt === undefined ? (pausedFor === undefined ? 'over' : `paused (${pausedFor})`) : clockTime(nextAt);
const resultOf = ({ state, reason, lateSeconds = 0 }: ScheduleRun) =>
  [
    state,
    ...(reason === undefined ? [] : [reason]),
    ...(lateSeconds > 0 ? [`${Math.round(lateSeconds / 60)} min late`] : []),
  ].join(', ');

/** Finds a schedule by the last characters of its id. @throws Failure SCHEDULE_NOT_FOUND */
async function findSchedule(relay: Relay, typed: string | undefined): Promise<Schedule> {
  if (typed === undefined) throw usage('Name a schedule: its id, or the end of it. "relay schedule list" shows them.');
  const { schedules = [] } = await relay.call('listLater');
  const [found, ...more] = schedules.filter(({ id }) => id.toLowerCase().endsWith(typed.toLowerCase()));
  if (!found) throw new Failure('SCHEDULE_NOT_FOUND', `You have no schedule "${oneLine(typed)}".`);
  if (more.length > 0) throw usage('Several schedules match this id. Type more of it.');
  return found;
}

const printSchedule = (schedule: Schedule) => {
  const next = schedule.next.map((at) => clockTime(at)).join(', ');
  return `Schedule ${shortId(schedule.id)}: ${oneLine(schedule.cron)} (${oneLine(schedule.zone)}). Next: ${next === '' ? nextOf(schedule) : next}.\n`;
};

async function add(context: Context, typed: readonly string[], options: ScheduleOptions, terminal: Terminal) {
  const [device, text] = typed;
  if (device === undefined)
    throw usage('Name a device: relay schedule add laptop "Run the tests" --cron "0 9 * * 1-5".');
  if (options.cron === undefined) throw usage('--cron is missing: minute, hour, day of month, month, day of week.');
  const { relay, print } = context;
  const message = await messageOf(text, terminal);
  const { id: deviceId, name } = await findDevice(relay, device);
  const settings = choicesOf(options);
  await confirmChoices(relay, { id: deviceId, name }, options.agent, settings, options, terminal);
  const session = options.session === undefined ? undefined : await findSession(relay, options.session);
  const body = {
    ...{ deviceId, message, cron: options.cron, zone: new Intl.DateTimeFormat().resolvedOptions().timeZone },
    ...{ waitSeconds: waitOf(options.wait), ...ruleOf(options) },
    ...(session ? { sessionId: session.id } : {}),
    ...(settings.length === 0 ? {} : { settings }),
    ...(options.withoutAsking === true ? { dangerous: true } : {}),
  };
  const schedule = await relay.call('createSchedule', { body });
  print(schedule, () => printSchedule(schedule));
}

async function list({ relay, print }: Context, terminal: Terminal): Promise<void> {
  const [{ schedules = [] }, { devices }] = await Promise.all([relay.call('listLater'), relay.call('listDevices')]);
  print({ schedules }, () => {
    if (schedules.length === 0) return 'No message repeats. "relay schedule add" makes one that does.\n';
    return tableOf(
      ['ID', 'NEXT', 'RULE', 'ZONE', 'DEVICE', shrinking('MESSAGE'), 'LAST'],
      schedules.map((one) => [
        shortId(one.id),
        nextOf(one),
        one.cron,
        one.zone,
        devices.find(({ id }) => id === one.deviceId)?.name ?? '',
        one.title ?? one.message,
        one.lastRun ? resultOf(one.lastRun) : '',
      ]),
      terminal,
    );
  });
}

async function runs({ relay, print }: Context, { id }: Schedule, terminal: Terminal): Promise<void> {
  const found = await relay.call('listScheduleRuns', { params: { id } });
  print(found, () =>
    found.runs.length === 0
      ? 'It has made no runs.\n'
      : tableOf(
          ['TIME', 'RESULT', 'SESSION', shrinking('LAST MESSAGE')],
          found.runs.map((run) => [
            clockTime(run.dueAt),
            resultOf(run),
            run.sessionId === undefined ? '' : nameOf(run.sessionId),
            run.lastMessage ?? '',
          ]),
          terminal,
        ),
  );
}

export async function scheduleCommand(
  typedAction: string | undefined,
  typed: readonly string[],
  options: ScheduleOptions,
  terminal: Terminal,
): Promise<number> {
  const action = actions.find((name) => name === (typedAction ?? 'list'));
  if (!action) throw usage(`There is no action "${oneLine(typedAction ?? '')}". There are: ${actions.join(', ')}.`);
  const rule = ruleOf(options);
  const context = contextOf(options, terminal);
  const { relay, print } = context;
  if (action === 'list') await list(context, terminal);
  else if (action === 'add') await add(context, typed, options, terminal);
  else {
    const schedule = await findSchedule(relay, typed[0]);
    const params = { id: schedule.id };
    if (action === 'runs') await runs(context, schedule, terminal);
    else if (action === 'run') {
      const run = await relay.call('runSchedule', { params });
      print(run, () => `${run.sessionId === undefined ? '' : `${nameOf(run.sessionId)}: `}${resultOf(run)}.\n`);
    } else if (action === 'remove') {
      await relay.call('deleteSchedule', { params });
      print({ id: schedule.id, removed: true }, () => 'Removed. Its sessions stay.\n');
    } else {
      const message =
        action === 'change' && typed[1] !== undefined ? { message: await messageOf(typed[1], terminal) } : {};
      const body = action === 'change' ? { ...rule, ...message } : { paused: action === 'pause' };
      if (Object.keys(body).length === 0) throw usage('Give a new text, or options of the rule.');
      const changed = await relay.call('changeSchedule', { params, body });
      print(changed, () => printSchedule(changed));
    }
  }
  return exitCodes.ok;
}
