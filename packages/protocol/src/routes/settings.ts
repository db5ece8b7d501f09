/** Routes of settings: of a session, and of new sessions of an agent. Their daemon answers. */
import * as story from '../examples/story.ts';
import { AgentSettings, DefaultChange, MessageSetting, SessionSettings } from '../rest/settings.ts';
import { type Static, Type, limits, maybe, record, text } from '../schema.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

/** The body of the route. */
export const SettingChange = body(
  record('SettingChange', 'A new value for one setting.', {
    ...MessageSetting.properties,
    on: maybe(text('The program in which the person chooses, for display', { maxLength: limits.nameCharacters })),
  }),
  { id: 'mode', value: 'code', keep: true, on: 'iPhone' },
);

const SettingsQuery = Type.Object({
  known: maybe(
    Type.Literal('1', { description: 'Only values that the daemon already knows; starts no process of the agent' }),
  ),
});

const AgentSettingsQuery = Type.Object({
  agentType: DefaultChange.properties.agentType,
  projectPath: maybe(text('The folder of the session', { maxLength: limits.pathCharacters })),
});

const sessionSettings = body(SessionSettings, { sessionId: story.sessionId, settings: story.settings });
const agentSettings = body(AgentSettings, {
  deviceId: story.deviceId,
  agentType: 'codex',
  settings: story.settings,
  asOf: story.times.completed,
  can: ['images'],
});
const defaultChange = body(DefaultChange, { agentType: 'codex', id: 'mode', value: 'code' });

export type SettingChange = Static<typeof SettingChange>;

export const sessionSettingRoutes = {
  readSettings: {
    method: 'GET',
    path: '/api/sessions/:id/settings',
    credential: 'user',
    summary: 'The settings of the session (mode, model, …), from the daemon',
    scope: 'sessions:read',
    query: SettingsQuery,
    success: { 200: sessionSettings },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'SETTINGS_NOT_SUPPORTED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  changeSetting: {
    method: 'PATCH',
    path: '/api/sessions/:id/settings',
    credential: 'user',
    summary: 'Change a setting of the session; returns all settings after the change',
    scope: 'sessions:write',
    body: SettingChange,
    success: { 200: sessionSettings },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'SETTINGS_NOT_SUPPORTED',
      'INVALID_SETTING',
      'SETTING_NOT_ALLOWED',
      'SIGN_IN_NOT_RECENT',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
} as const satisfies Rows;

export const deviceSettingRoutes = {
  readDeviceSettings: {
    method: 'GET',
    path: '/api/devices/:id/settings',
    credential: 'user',
    summary: 'The initial settings of new sessions of an agent, from the daemon; starts no process of the agent',
    scope: 'devices:read',
    query: AgentSettingsQuery,
    success: { 200: agentSettings },
    errors: ['DEVICE_NOT_FOUND', 'NOT_SUPPORTED_BY_DEVICE', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  changeDeviceSetting: {
    method: 'PATCH',
    path: '/api/devices/:id/settings',
    credential: 'user',
    summary: 'Set or remove a default for new sessions of an agent; a mode that never asks requires a recent sign-in',
    scope: 'sessions:write',
    body: defaultChange,
    success: { 200: agentSettings },
    errors: [
      'DEVICE_NOT_FOUND',
      'NOT_SUPPORTED_BY_DEVICE',
      'INVALID_SETTING',
      'SETTING_NOT_ALLOWED',
      'SIGN_IN_NOT_RECENT',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
} as const satisfies Rows;
