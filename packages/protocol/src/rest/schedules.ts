/** Messages that repeat (rules, chapter 26). camelCase, times in UTC; a rule is read on the wall clock of its zone. */
import {
  type Static,
  Type,
  agentTypePattern,
  count,
  flag,
  id,
  limits,
  line,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import { MessageSetting, settingLimits } from './settings.ts';

const runStates = ['started', 'done', 'asked', 'failed', 'missed', 'skipped', 'cancelled'] as const;

export const ScheduleRun = record('ScheduleRun', 'A time of a schedule.', {
  dueAt: time('Its time'),
  state: oneOf(
    runStates,
    'started: its message waits or runs. asked: its turn asked the user. missed: nothing ran. skipped: the relay left it out',
  ),
  reason: maybe(
    line(
      'For a missed run: offline, down (the relay) or set_back (the database). For a skipped run: overlap, budget or sessions. For a failed run: the code of its task',
    ),
  ),
  manual: maybe(Type.Literal(true, { description: 'The user asked for it' })),
  lateSeconds: maybe(count('How late it began; absent: less than a minute')),
  taskId: maybe(id('Its task')),
  sessionId: maybe(sessionId('Its session')),
  lastMessage: maybe(text('The last message of its session', { maxLength: limits.lastMessageBytes })),
  endedAt: maybe(time('When it was settled')),
});

const path = text('Working directory hint', { maxLength: limits.pathCharacters });
const agentType = text('Agent type name', { pattern: agentTypePattern, maxLength: 64 });
const title = text('Title of its sessions', { maxLength: limits.nameCharacters });
const message = text('The message', { minLength: 1, maxLength: limits.messageBytes });
const settings = list(MessageSetting, 'Settings for each message', { maxItems: settingLimits.choices });
const cron = text('Minute, hour, day of month, month, day of week. Both days given: either matches', {
  minLength: 1,
  maxLength: limits.cronCharacters,
});
const zone = text('IANA time zone, such as `Europe/Paris`', { minLength: 1, maxLength: limits.zoneCharacters });
const waitSeconds = Type.Integer({
  description:
    'How long a run waits for the device, at most until the next run. 0: the relay skips the run while the device is offline',
  minimum: 0,
  maximum: limits.scheduleWaitSeconds,
});
const times = Type.Integer({ description: 'Maximum number of runs', minimum: 1, maximum: 100_000 });
const from = time('No run before');
const until = time('No run after');

const pauseReasons = ['person', 'failing', 'account', 'program', 'archived'] as const;

const chosen = {
  id: id('Schedule id'),
  deviceId: id('Its device'),
  agentType,
  projectPath: text('Working directory; empty: that of the daemon', { maxLength: limits.pathCharacters }),
  message,
  title: maybe(title),
  settings: maybe(settings),
  dangerous: maybe(Type.Literal(true, { description: 'Its runs can use a mode that never asks' })),
  sessionId: maybe(sessionId('The session that each run continues; absent: each run begins one')),
  cron,
  zone,
  from: maybe(from),
  until: maybe(until),
  times: maybe(times),
  waitSeconds,
  paused: flag('The schedule makes no runs'),
  pausedFor: maybe(
    oneOf(
      pauseReasons,
      'person: by the user. failing: five runs in a row failed, were missed or skipped. account: the account was disabled. program: the program that made it lost its access. archived: its session is archived',
    ),
  ),
  program: maybe(line('The client of the program that made it')),
  nextAt: maybe(time('Its next time; absent: paused, or over')),
  createdAt: time('When it was made'),
};

const next = list(time('A time'), 'Its next three times, as the relay computes them', { maxItems: 3 });

export const ScheduleRule = Type.Object({ cron, zone });
export const ScheduleTimes = record('ScheduleTimes', 'When a rule runs next.', { next });

export const Schedule = record('Schedule', 'A message that repeats.', {
  ...chosen,
  next,
  lastRun: maybe(ScheduleRun),
});

export const ExportedSchedule = record('ExportedSchedule', 'A message that repeats, with its newest runs.', {
  ...chosen,
  runs: list(ScheduleRun, 'Newest first', { maxItems: limits.runsListed }),
});

export const ScheduleRuns = record('ScheduleRuns', 'The newest runs of a schedule, of the last 90 days.', {
  runs: list(ScheduleRun, 'Newest first', { maxItems: limits.runsListed }),
});

const dangerous = maybe(
  flag(
    'The user confirmed that runs can use a mode that never asks; requires a recent sign-in. Without it, runs never use such a mode',
  ),
);

export const CreateSchedule = record('CreateSchedule', 'A message that repeats.', {
  deviceId: id('Device'),
  message,
  agentType: maybe(agentType),
  projectPath: maybe(path),
  settings: maybe(settings),
  dangerous,
  sessionId: maybe(sessionId('Each run continues this session; absent: each begins one')),
  title: maybe(title),
  cron,
  zone,
  from: maybe(from),
  until: maybe(until),
  times: maybe(times),
  waitSeconds,
  paused: maybe(flag('The schedule makes no runs yet')),
});

/** Null removes a field. */
export const ChangeSchedule = Type.Object(
  {
    message: maybe(message),
    agentType: maybe(agentType),
    projectPath: maybe(path),
    settings: maybe(settings),
    dangerous,
    title: maybe(nullable(title)),
    cron: maybe(cron),
    zone: maybe(zone),
    from: maybe(nullable(from)),
    until: maybe(nullable(until)),
    times: maybe(nullable(times)),
    waitSeconds: maybe(waitSeconds),
    paused: maybe(flag('Pause or resume the schedule')),
  },
  { title: 'ChangeSchedule', description: 'The changes; at least one field.', minProperties: 1 },
);

export type Schedule = Static<typeof Schedule>;
export type ScheduleRun = Static<typeof ScheduleRun>;
export type ScheduleRuns = Static<typeof ScheduleRuns>;
export type ScheduleTimes = Static<typeof ScheduleTimes>;
export type CreateSchedule = Static<typeof CreateSchedule>;
export type ChangeSchedule = Static<typeof ChangeSchedule>;
