/** The rows of `routes` for the devices of a person. */
import * as folders from '../rest/folders.ts';
import * as people from '../rest/people.ts';
import { SearchHits, SearchQuery } from '../rest/search.ts';
import * as uploads from '../rest/uploads.ts';
import * as usage from '../rest/usage.ts';
import { Type, count, limits, maybe, text } from '../schema.ts';

const FoldersQuery = Type.Object({
  path: maybe(
    text('Also list the subfolders of this folder, from a daemon that declared `browse`; empty: the allowed folders', {
      maxLength: limits.pathCharacters,
    }),
  ),
});

const UsageQuery = Type.Object({
  from: usage.calendarDay('First day'),
  to: usage.calendarDay('Last day; the range is at most 92 days'),
  zone: usage.timeZone('Time zone of the days (IANA), such as `Europe/Paris`'),
});

const fromDevice = [
  'DEVICE_NOT_FOUND',
  'NOT_SUPPORTED_BY_DEVICE',
  'DEVICE_OFFLINE',
  'DEVICE_TIMEOUT',
  'DEVICE_ERROR',
] as const;

export const deviceRoutes = {
  listDevices: {
    method: 'GET',
    path: '/api/devices',
    credential: 'user',
    summary: 'List devices',
    scope: 'devices:read',
    success: { 200: people.DeviceList },
    errors: [],
  },
  updateDevice: {
    method: 'PATCH',
    path: '/api/devices/:id',
    credential: 'user',
    summary: 'Rename a device',
    scope: 'devices:write',
    body: people.UpdateDevice,
    success: { 200: people.Device },
    errors: ['DEVICE_NOT_FOUND'],
  },
  deleteDevice: {
    method: 'DELETE',
    path: '/api/devices/:id',
    credential: 'user-or-device',
    summary: 'Remove a device',
    scope: 'devices:write',
    success: { 204: undefined },
    errors: ['DEVICE_NOT_FOUND'],
  },
  pingDevice: {
    method: 'POST',
    path: '/api/devices/:id/ping',
    credential: 'user',
    summary: 'Check that the daemon of a device responds',
    scope: 'devices:read',
    success: { 200: people.DevicePing },
    errors: ['DEVICE_NOT_FOUND', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT'],
  },
  listFolders: {
    method: 'GET',
    path: '/api/devices/:id/folders',
    credential: 'user',
    summary:
      'The latest working directories of a device; with `path` also the subfolders of that folder, from the daemon',
    scope: ['devices:read', 'sessions:read'],
    query: FoldersQuery,
    success: { 200: folders.FolderList },
    errors: [
      'DEVICE_NOT_FOUND',
      'FOLDER_NOT_FOUND',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  searchMessages: {
    method: 'GET',
    path: '/api/devices/:id/search',
    credential: 'user',
    summary: 'Search the transcripts of a device, through its daemon',
    scope: 'sessions:read',
    query: SearchQuery,
    success: { 200: SearchHits },
    errors: ['DEVICE_NOT_FOUND', 'NOT_SUPPORTED_BY_DEVICE', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  readUsage: {
    method: 'GET',
    path: '/api/devices/:id/usage',
    credential: 'user',
    summary: 'Turns, cost and tokens of each agent of a device by day, from its daemon',
    scope: 'devices:read',
    query: UsageQuery,
    success: { 200: usage.DeviceUsage },
    errors: ['DEVICE_NOT_FOUND', 'NOT_SUPPORTED_BY_DEVICE', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  changeContinue: {
    method: 'PATCH',
    path: '/api/devices/:id/continue',
    credential: 'user',
    summary: 'Let sessions of an agent continue by themselves after a usage limit, or ask each time',
    scope: 'sessions:write',
    body: people.ChangeContinue,
    success: { 200: people.Device },
    errors: ['DEVICE_NOT_FOUND', 'AGENT_NOT_OFFERED'],
  },
  sendFile: {
    method: 'POST',
    path: '/api/devices/:id/files',
    credential: 'user',
    summary: 'Announce a file for an agent to a device; the daemon keeps its pieces for 24 h, until a message uses it',
    scope: 'sessions:write',
    body: uploads.SendFile,
    success: { 201: uploads.FileState },
    errors: [...fromDevice, 'INVALID_FILE', 'FILE_TOO_LARGE', 'DEVICE_FULL'],
  },
  readSentFile: {
    method: 'GET',
    path: '/api/devices/:id/files/:fileId',
    credential: 'user',
    summary: 'The part of such a file that the device has',
    scope: 'sessions:write',
    success: { 200: uploads.FileState },
    errors: [...fromDevice, 'FILE_NOT_FOUND'],
  },
  sendPiece: {
    method: 'PUT',
    path: '/api/devices/:id/files/:fileId',
    credential: 'user',
    summary: 'Send the next piece of a file, as bytes; FILE_INCOMPLETE names the right offset in `received`',
    scope: 'sessions:write',
    limit: 'pieces',
    binary: true,
    query: Type.Object({ offset: count('First byte of the piece: the bytes that the device has') }),
    success: { 200: uploads.FileState },
    errors: [
      ...fromDevice,
      'FILE_NOT_FOUND',
      'FILE_INCOMPLETE',
      'INVALID_FILE',
      'DEVICE_FULL',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
    ],
  },
  dropFile: {
    method: 'DELETE',
    path: '/api/devices/:id/files/:fileId',
    credential: 'user',
    summary: 'Erase a file that no message has used',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['DEVICE_NOT_FOUND', 'NOT_SUPPORTED_BY_DEVICE'],
  },
  listConnections: {
    method: 'GET',
    path: '/api/devices/:id/connections',
    credential: 'user',
    summary: 'The newest 50 connections of a device',
    scope: 'devices:read',
    success: { 200: people.ConnectionList },
    errors: ['DEVICE_NOT_FOUND'],
  },
} as const;
