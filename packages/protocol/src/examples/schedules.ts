/** Examples of messages that repeat. */
import type { Schedule, ScheduleRun } from '../rest/schedules.ts';
import * as story from './story.ts';

const run: ScheduleRun = {
  dueAt: '2026-03-14T08:00:00.000Z',
  state: 'done',
  taskId: story.tasks.cancelled,
  sessionId: story.sessionId,
  lastMessage: 'The tests pass.',
  endedAt: story.times.completed,
};
export const exportedSchedule = {
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
  runs: [run],
};
const { runs: _runs, ...kept } = exportedSchedule;
export const schedule: Schedule = {
  ...kept,
  next: ['2026-03-16T08:00:00.000Z', '2026-03-17T08:00:00.000Z', '2026-03-18T08:00:00.000Z'],
  lastRun: run,
};

const missed: ScheduleRun = { dueAt: '2026-03-13T08:00:00.000Z', state: 'missed', reason: 'offline' };

export const scheduleExamples = {
  LaterList: {
    tasks: [
      {
        sessionId: story.sessionId,
        title: story.title,
        taskId: story.tasks.cancelled,
        uuid: '19c54259-4d73-573b-93ad-fd151d407f20',
        kind: 'resume' as const,
        content: 'Then push it.',
        images: false,
        createdAt: story.times.answered,
        expiresAt: '2026-03-15T09:15:00.000Z',
        notBefore: '2026-03-15T09:00:00.000Z',
      },
    ],
    schedules: [schedule],
  },
  CreateSchedule: {
    deviceId: story.deviceId,
    message: schedule.message,
    cron: schedule.cron,
    zone: schedule.zone,
    waitSeconds: schedule.waitSeconds,
  },
  ChangeSchedule: { cron: '0 9 * * *', until: null },
  Schedule: schedule,
  ScheduleTimes: { next: schedule.next },
  ScheduleRun: run,
  ScheduleRuns: { runs: [run, missed] },
};
