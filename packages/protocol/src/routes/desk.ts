/** Routes of a session that a program on the machine has open as well. */
import * as story from '../examples/story.ts';
import { deskAnswer } from '../rest/desk.ts';
import { type Static, flag, maybe, record, sessionId, text } from '../schema.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

export const ReleasedSession = body(
  record('ReleasedSession', 'The outcome of a request to release a session.', {
    sessionId: sessionId('Canonical session id'),
    result: text(
      '`released`: the daemon closed the program. `not_held`: no program had the session open. `busy`: the program is in the middle of a turn. `foreign`: the session is open in a program that is not the agent of this user. `shared`: the same program runs other sessions. `unknown_session`: the device has no such session. `failed`: closing the program failed. New values can be added',
    ),
    detail: maybe(text('Details for people')),
  }),
  { sessionId: story.sessionId, result: 'released' },
);

export const DeskState = body(
  record('DeskState', 'How to continue a session in a terminal.', {
    sessionId: sessionId('Canonical session id'),
    free: flag('True if nothing blocks the session; otherwise `why` has the reason'),
    ...deskAnswer,
    attach: text('The command of `relay` that shows the session in any terminal'),
  }),
  {
    sessionId: story.sessionId,
    free: true,
    command: story.resume,
    cwd: story.projectPath,
    attach: `relay attach ${story.sessionId}`,
  },
);

const ReleaseSession = body(
  record('ReleaseSession', 'How to release the session; optional.', {
    stopTurn: maybe(flag('Even while the program works or waits for a person')),
  }),
  { stopTurn: true },
);

const deskErrors = [
  'SESSION_NOT_FOUND',
  'SESSION_NOT_RESOLVED',
  'NOT_SUPPORTED_BY_DEVICE',
  'DEVICE_OFFLINE',
  'DEVICE_TIMEOUT',
  'DEVICE_ERROR',
] as const;

export type ReleasedSession = Static<typeof ReleasedSession>;
export type DeskState = Static<typeof DeskState>;

export const deskRoutes = {
  releaseSession: {
    method: 'POST',
    path: '/api/sessions/:id/release',
    credential: 'user',
    summary: 'Close the program on the machine that has the session open, to continue in an app',
    scope: 'sessions:write',
    body: ReleaseSession,
    success: { 200: ReleasedSession },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT'],
  },
  readDesk: {
    method: 'GET',
    path: '/api/sessions/:id/desk',
    credential: 'user',
    summary: 'How to continue the session in a terminal; changes nothing',
    scope: 'sessions:read',
    success: { 200: DeskState },
    errors: deskErrors,
  },
  letGo: {
    method: 'POST',
    path: '/api/sessions/:id/desk',
    credential: 'user',
    summary: 'The same, after the daemon stops its own idle process of the session',
    scope: 'sessions:write',
    success: { 200: DeskState },
    errors: deskErrors,
  },
} as const satisfies Rows;
