/** The rows of `routes` for messages that repeat. */
import { endpoints } from '../endpoints.ts';
import * as schedules from '../rest/schedules.ts';

const refused = [
  'INVALID_SCHEDULE',
  'SCHEDULE_TOO_OFTEN',
  'PAYLOAD_TOO_LARGE',
  'AGENT_NOT_OFFERED',
  'NOT_SUPPORTED_BY_DEVICE',
  'SIGN_IN_NOT_RECENT',
] as const;

export const scheduleRoutes = {
  createSchedule: {
    ...endpoints.createSchedule,
    summary: 'Create a schedule, which repeats a message',
    scope: 'sessions:write',
    body: schedules.CreateSchedule,
    success: { 201: schedules.Schedule },
    errors: [...refused, 'DEVICE_NOT_FOUND', 'SESSION_NOT_FOUND', 'TOO_MANY_SCHEDULES'],
  },
  previewSchedule: {
    ...endpoints.previewSchedule,
    summary: 'The next times of a rule, before a schedule has it',
    scope: 'sessions:read',
    query: schedules.ScheduleRule,
    success: { 200: schedules.ScheduleTimes },
    errors: ['INVALID_SCHEDULE', 'SCHEDULE_TOO_OFTEN'],
  },
  readSchedule: {
    ...endpoints.readSchedule,
    summary: 'A schedule',
    scope: 'sessions:read',
    success: { 200: schedules.Schedule },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
  changeSchedule: {
    ...endpoints.changeSchedule,
    summary: 'Change, pause or resume a schedule',
    scope: 'sessions:write',
    body: schedules.ChangeSchedule,
    success: { 200: schedules.Schedule },
    errors: [...refused, 'SCHEDULE_NOT_FOUND'],
  },
  deleteSchedule: {
    ...endpoints.deleteSchedule,
    summary: 'Delete a schedule; its sessions stay',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
  runSchedule: {
    ...endpoints.runSchedule,
    summary: 'Run a schedule now, beside its times',
    scope: 'sessions:write',
    success: { 202: schedules.ScheduleRun },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
  listScheduleRuns: {
    ...endpoints.listScheduleRuns,
    summary: 'The newest runs of a schedule',
    scope: 'sessions:read',
    success: { 200: schedules.ScheduleRuns },
    errors: ['SCHEDULE_NOT_FOUND'],
  },
} as const;
