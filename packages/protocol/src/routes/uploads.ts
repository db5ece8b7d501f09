/** Routes of files for an agent, which go through the relay in pieces to the daemon (rules, chapter 27). */
import * as story from '../examples/story.ts';
import { FileState, SendFile } from '../rest/uploads.ts';
import { Type, count } from '../schema.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

const announcedFile = body(SendFile, { fileId: story.fileIdExample, name: 'march.csv', size: 27, mime: 'text/csv' });
const fileState = body(FileState, { fileId: story.fileIdExample, received: 27, done: true, name: 'march.csv' });

const fromDevice = [
  'DEVICE_NOT_FOUND',
  'NOT_SUPPORTED_BY_DEVICE',
  'DEVICE_OFFLINE',
  'DEVICE_TIMEOUT',
  'DEVICE_ERROR',
] as const;

export const uploadRoutes = {
  sendFile: {
    method: 'POST',
    path: '/api/devices/:id/files',
    credential: 'user',
    summary: 'Announce a file for an agent to a device; the daemon keeps its pieces for 24 h, until a message uses it',
    scope: 'sessions:write',
    body: announcedFile,
    success: { 201: fileState },
    errors: [...fromDevice, 'INVALID_FILE', 'FILE_TOO_LARGE', 'DEVICE_FULL'],
  },
  readSentFile: {
    method: 'GET',
    path: '/api/devices/:id/files/:fileId',
    credential: 'user',
    summary: 'The part of such a file that the device has',
    scope: 'sessions:write',
    success: { 200: fileState },
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
    success: { 200: fileState },
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
} as const satisfies Rows;
