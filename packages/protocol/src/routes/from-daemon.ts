/** The rows of `routes` that concern the agent of a session; nearly all of them are answered by its daemon. */
import { endpoints } from '../endpoints.ts';
import * as content from '../rest/content.ts';
import * as desk from '../rest/desk.ts';
import * as conversation from '../rest/conversation.ts';
import * as settings from '../rest/settings.ts';
import { Type, count, maybe } from '../schema.ts';
import { transcriptLimits } from '../transcript/index.ts';

const ContentQuery = Type.Object({
  offset: maybe(count('First byte of the piece; default: 0')),
  download: maybe(
    Type.Literal('1', {
      description: 'The whole content as bytes instead, for a browser to save; `offset` and `limit` do not count',
    }),
  ),
  limit: maybe(
    Type.Integer({ description: 'Maximum number of bytes', minimum: 1, maximum: transcriptLimits.pieceBytes }),
  ),
});

const deskErrors = [
  'SESSION_NOT_FOUND',
  'SESSION_NOT_RESOLVED',
  'NOT_SUPPORTED_BY_DEVICE',
  'DEVICE_OFFLINE',
  'DEVICE_TIMEOUT',
  'DEVICE_ERROR',
] as const;

export const fromDaemonRoutes = {
  listCommands: {
    ...endpoints.listCommands,
    summary: 'The slash commands of the agent',
    scope: 'sessions:read',
    success: { 200: conversation.CommandList },
    errors: ['SESSION_NOT_FOUND'],
  },
  readContext: {
    ...endpoints.readContext,
    summary: 'The context usage of the session, from the daemon',
    scope: 'sessions:read',
    success: { 200: conversation.SessionContext },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  readSummary: {
    ...endpoints.readSummary,
    summary: 'A summary of the session, from the daemon',
    scope: 'sessions:read',
    success: { 200: conversation.SessionSummary },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  readSettings: {
    ...endpoints.readSettings,
    summary: 'The settings of the session (mode, model, …), from the daemon',
    scope: 'sessions:read',
    query: settings.SettingsQuery,
    success: { 200: settings.SessionSettings },
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
    ...endpoints.changeSetting,
    summary: 'Change a setting of the session; returns all settings after the change',
    scope: 'sessions:write',
    body: settings.SettingChange,
    success: { 200: settings.SessionSettings },
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
  readDeviceSettings: {
    ...endpoints.readDeviceSettings,
    summary: 'The initial settings of new sessions of an agent, from the daemon; starts no process of the agent',
    scope: 'devices:read',
    query: settings.AgentSettingsQuery,
    success: { 200: settings.AgentSettings },
    errors: ['DEVICE_NOT_FOUND', 'NOT_SUPPORTED_BY_DEVICE', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  changeDeviceSetting: {
    ...endpoints.changeDeviceSetting,
    summary: 'Set or remove a default for new sessions of an agent; a mode that never asks requires a recent sign-in',
    scope: 'sessions:write',
    body: settings.DefaultChange,
    success: { 200: settings.AgentSettings },
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
  readContent: {
    ...endpoints.readContent,
    summary: "A piece of an item's content, from the daemon: an image, a file, or the whole output of a tool",
    scope: 'sessions:read',
    query: ContentQuery,
    success: { 200: content.ItemContent },
    streamed: true,
    errors: [
      'SESSION_NOT_FOUND',
      'CONTENT_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  releaseSession: {
    ...endpoints.releaseSession,
    summary: 'Close the program on the machine that has the session open, to continue in an app',
    scope: 'sessions:write',
    body: desk.ReleaseSession,
    success: { 200: conversation.ReleasedSession },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT'],
  },
  readDesk: {
    ...endpoints.readDesk,
    summary: 'How to continue the session in a terminal; changes nothing',
    scope: 'sessions:read',
    success: { 200: desk.DeskState },
    errors: deskErrors,
  },
  letGo: {
    ...endpoints.letGo,
    summary: 'The same, after the daemon stops its own idle process of the session',
    scope: 'sessions:write',
    success: { 200: desk.DeskState },
    errors: deskErrors,
  },
} as const;
