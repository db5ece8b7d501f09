/** Routes of messages that repeat (rules, chapter 26). A rule is read on the wall clock of its zone. */
import * as story from '../examples/story.ts';
import { MessageSetting, settingLimits } from '../rest/settings.ts';
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
import { body, exampleOf } from './body.ts';
import type { Rows } from './route.ts';

const runStates = ['started', 'done', 'asked', 'failed', 'missed', 'skipped', 'cancelled'] as const;

export const ScheduleRun = body(
  record('ScheduleRun', 'A time of a schedule.', {
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
  }),
  {
    dueAt: '2026-03-14T08:00:00.000Z',
    state: 'done',
    taskId: story.tasks.cancelled,
    sessionId: story.sessionId,
    lastMessage: 'The tests pass.',
    endedAt: story.times.completed,
  },
);

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

const ScheduleRule = Type.Object({ cron, zone });

export const ScheduleTimes = body(record('ScheduleTimes', 'When a rule runs next.', { next }), {
  next: ['2026-03-16T08:00:00.000Z', '2026-03-17T08:00:00.000Z', '2026-03-18T08:00:00.000Z'],
});

export const Schedule = body(
  record('Schedule', 'A message that repeats.', {
    ...chosen,
    next,
    lastRun: maybe(ScheduleRun),
  }),
  {
    id: '01KKNT7C3W0K4M8Q1Z5T7YB3C6',
    deviceId: story.deviceId,
    agentType: story.agentType,
    projectPath: story.projectPath,
    message: 'Run the slow tests and sum up.',
    cron: '0 9 * * 1-5',
    zone: 'Europe/Berlin',
    waitSeconds: 7200,
    paused: false,
    nextAt: '2026-03-16T08:00:00.000Z',
    createdAt: story.times.registered,
    next: exampleOf(ScheduleTimes).next,
    lastRun: exampleOf(ScheduleRun),
  },
);

const { next: _next, lastRun: _lastRun, ...unchanging } = exampleOf(Schedule);
export const ExportedSchedule = body(
  record('ExportedSchedule', 'A message that repeats, with its newest runs.', {
    ...chosen,
    runs: list(ScheduleRun, 'Newest first', { maxItems: limits.runsListed }),
  }),
  { ...unchanging, runs: [exampleOf(ScheduleRun)] },
);

export const ScheduleRuns = body(
  record('ScheduleRuns', 'The newest runs of a schedule, of the last 90 days.', {
    runs: list(ScheduleRun, 'Newest first', { maxItems: limits.runsListed }),
  }),
  {
    runs: [exampleOf(ScheduleRun), { dueAt: '2026-03-13T08:00:00.000Z', state: 'missed', reason: 'offline' }],
  },
);

const dangerous = maybe(
  flag(
    'The user confirmed that runs can use a mode that never asks; requires a recent sign-in. Without it, runs never use such a mode',
  ),
);

export const CreateSchedule = body(
  record('CreateSchedule', 'A message that repeats.', {
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
  }),
  {
    deviceId: story.deviceId,
    message: exampleOf(Schedule).message,
    cron: exampleOf(Schedule).cron,
    zone: exampleOf(Schedule).zone,
    waitSeconds: exampleOf(Schedule).waitSeconds,
  },
);

/** Null removes a field. */
export const ChangeSchedule = body(
  Type.Object(
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
  ),
  { cron: '0 9 * * *', until: null },
);

const refused = [
  'INVALID_SCHEDULE',
  'SCHEDULE_TOO_OFTEN',
  'PAYLOAD_TOO_LARGE',
  'AGENT_NOT_OFFERED',
  'NOT_SUPPORTED_BY_DEVICE',
  'SIGN_IN_NOT_RECENT',
] as const;

export type Schedule = Static<typeof Schedule>;
export type ScheduleRun = Static<typeof ScheduleRun>;
export type ScheduleRuns = Static<typeof ScheduleRuns>;
export type ScheduleTimes = Static<typeof ScheduleTimes>;
export type CreateSchedule = Static<typeof CreateSchedule>;
export type ChangeSchedule = Static<typeof ChangeSchedule>;

export const scheduleRoutes = {
  createSchedule: {
    method: 'POST',
    path: '/api/schedules',
    credential: 'user',
    summary: 'Create a schedule, which repeats a message',
    scope: 'sessions:write',
    body: CreateSchedule,
    success: { 201: Schedule },
    errors: [...refused, 'DEVICE_NOT_FOUND', 'SESSION_NOT_FOUND', 'TOO_MANY_SCHEDULES'],
  },
  previewSchedule: {
    method: 'GET',
    path: '/api/schedules/next',
    credential: 'user',
    summary: 'The next times of a rule, before a schedule has it',
    scope: 'sessions:read',
    query: ScheduleRule,
    success: { 200: ScheduleTimes },
    errors: ['INVALID_SCHEDULE', 'SCHEDULE_TOO_OFTEN'],
  },
  readSchedule: {
    method: 'GET',
    path: '/api/schedules/:id',
    credential: 'user',
    summary: 'A schedule',
    scope: 'sessions:read',
    success: { 200: Schedule },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
  changeSchedule: {
    method: 'PATCH',
    path: '/api/schedules/:id',
    credential: 'user',
    summary: 'Change, pause or resume a schedule',
    scope: 'sessions:write',
    body: ChangeSchedule,
    success: { 200: Schedule },
    errors: [...refused, 'SCHEDULE_NOT_FOUND'],
  },
  deleteSchedule: {
    method: 'DELETE',
    path: '/api/schedules/:id',
    credential: 'user',
    summary: 'Delete a schedule; its sessions stay',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
  runSchedule: {
    method: 'POST',
    path: '/api/schedules/:id/run',
    credential: 'user',
    summary: 'Run a schedule now, beside its times',
    scope: 'sessions:write',
    success: { 202: ScheduleRun },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
  listScheduleRuns: {
    method: 'GET',
    path: '/api/schedules/:id/runs',
    credential: 'user',
    summary: 'The newest runs of a schedule',
    scope: 'sessions:read',
    success: { 200: ScheduleRuns },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
} as const satisfies Rows;
