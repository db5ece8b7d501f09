/** Routes of messages that repeat. */
import type { scheduleRoutes } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import type { Handlers } from '../http/pipeline.ts';
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  listScheduleRuns,
  previewSchedule,
  readSchedule,
  runSchedule,
} from '../sessions/schedules.ts';

export function scheduleHandlers(deps: Operations): Handlers<keyof typeof scheduleRoutes> {
  return {
    createSchedule: async ({ principal, body }) => ({ status: 201, body: await createSchedule(deps, principal, body) }),
    previewSchedule: ({ query }) => ({ status: 200, body: previewSchedule(query) }),
    readSchedule: async ({ principal, params }) => ({
      status: 200,
      body: await readSchedule(deps, principal.userId, params.id),
    }),
    changeSchedule: async ({ principal, params, body }) => ({
      status: 200,
      body: await changeSchedule(deps, principal, params.id, body),
    }),
    deleteSchedule: async ({ principal, params }) => {
      await deleteSchedule(deps, principal.userId, params.id);
      return { status: 204 };
    },
    runSchedule: async ({ principal, params }) => ({
      status: 202,
      body: await runSchedule(deps, principal.userId, params.id),
    }),
    listScheduleRuns: async ({ principal, params }) => ({
      status: 200,
      body: await listScheduleRuns(deps, principal.userId, params.id),
    }),
  };
}
