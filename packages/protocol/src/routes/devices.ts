/** Routes of the devices of a person. */
import * as story from '../examples/story.ts';
import { agentType, deviceStatuses } from '../rest/device.ts';
import { folder, folderPath } from '../rest/folders.ts';
import { hit, searchLimits, searchQuery } from '../rest/search.ts';
import { calendarDay, since, timeZone, usageDays } from '../rest/usage.ts';
import {
  type Static,
  Type,
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

export const DeviceConflict = Type.Object(
  {
    machines: list(
      record('ConflictMachine', 'One of the two daemons; unknown values are empty.', {
        hostname: text('Host name, if its daemon reports it', { maxLength: limits.hostnameCharacters }),
        address: line('Network address of its connection'),
        daemonVersion: line('Version that its daemon declared'),
      }),
      'The machines; only one if the relay cannot distinguish them',
      { maxItems: limits.conflictMachines },
    ),
    since: time('When the relay detected the conflict'),
  },
  {
    description:
      'Two daemons with this registration displace each other: register one of the machines again. Null if there is no conflict',
  },
);

export const Device = body(
  record('Device', 'A machine of the user that runs a daemon.', {
    id: id('Device id'),
    name: line('Display name'),
    hostname: line('Host name of the machine'),
    agentType: line('Agent type name'),
    status: oneOf(deviceStatuses, 'Whether its daemon is connected'),
    lastSeenAt: time('Time of its last activity; time of registration if it never connected'),
    capabilities: list(
      line('A capability'),
      'Capabilities that its daemon declared when it last connected, for example `images`',
      {
        maxItems: limits.capabilities,
      },
    ),
    agents: maybe(
      list(
        record('DeviceAgent', 'An agent that can run new sessions.', {
          agentType,
          name: maybe(text('Name of the product', { maxLength: limits.nameCharacters })),
          version: maybe(text('Its version', { maxLength: 64 })),
        }),
        'The agent of the registration first, then the agents that its daemon declared when it last connected',
        { maxItems: limits.agents },
      ),
    ),
    continues: maybe(
      list(
        text('Agent type name', { maxLength: 64 }),
        'Agents whose sessions continue automatically after a usage limit; absent: none',
        { maxItems: limits.agents },
      ),
    ),
    /** Additive: absent in the answers of older releases. */
    conflict: maybe(nullable(DeviceConflict)),
  }),
  {
    id: story.deviceId,
    name: story.deviceName,
    hostname: story.hostname,
    agentType: story.agentType,
    status: 'online' as const,
    lastSeenAt: story.times.completed,
    capabilities: ['images', 'context'],
    agents: [
      { agentType: story.agentType, name: 'Claude Code', version: '2.1.0' },
      { agentType: 'codex', name: 'Codex' },
    ],
    conflict: {
      machines: [
        { hostname: story.hostname, address: '192.0.2.17', daemonVersion: story.daemonVersion },
        { hostname: 'restored', address: '192.0.2.44', daemonVersion: story.daemonVersion },
      ],
      since: story.times.connected,
    },
  },
);

const DeviceList = body(
  record('DeviceList', 'Devices of the user.', {
    devices: list(Device, 'Devices', { maxItems: limits.devices }),
  }),
  { devices: [exampleOf(Device)] },
);

const UpdateDevice = body(
  record('UpdateDevice', 'Rename a device.', {
    name: text('New display name', { minLength: 1, maxLength: limits.nameCharacters }),
  }),
  { name: story.deviceName },
);

export const ChangeContinue = body(
  record('ChangeContinue', 'Whether sessions of an agent continue after a usage limit.', {
    agentType,
    mode: oneOf(
      ['ask', 'auto'],
      'auto: the relay sends a message when the limit resets, at most 3 times in a row. ask: the user decides each time',
    ),
  }),
  { agentType: story.agentType, mode: 'auto' },
);

export const DevicePing = body(
  record('DevicePing', 'The daemon responded.', {
    ms: count('Round-trip time from the api to the daemon in milliseconds'),
  }),
  { ms: 24 },
);

export const ConnectionList = body(
  record('ConnectionList', 'The newest 50 connections of a device.', {
    connections: list(
      record('Connection', 'One connection of the daemon.', {
        connectedAt: time('Accepted'),
        disconnectedAt: maybe(time('Ended')),
        closeCode: maybe(Type.Integer({ description: 'WebSocket close code' })),
        reason: maybe(line('Why it was closed')),
        daemonVersion: line('Version that the daemon declared; empty if none'),
        instance: line('The instance that had the connection'),
      }),
      'Newest first',
      { maxItems: limits.connections },
    ),
  }),
  {
    connections: [
      { connectedAt: story.times.connected, daemonVersion: story.daemonVersion, instance: story.instance },
      {
        connectedAt: story.times.registered,
        disconnectedAt: story.times.connected,
        closeCode: 4409,
        reason: 'replaced by a newer connection',
        daemonVersion: story.daemonVersion,
        instance: story.instance,
      },
    ],
  },
);

export const BrowsedFolder = record('BrowsedFolder', 'A folder of the machine, as its daemon reports it.', folder);

export const FolderList = body(
  record('FolderList', 'Folders of a device.', {
    recent: list(
      record('RecentFolder', 'The working directory of a session.', {
        path: folderPath('Path on the device'),
        usedAt: time('Last change of the newest session in this folder'),
      }),
      'Working directories of sessions, without duplicates, newest first',
      { maxItems: limits.recentFolders },
    ),
    browsed: maybe(BrowsedFolder),
  }),
  { recent: [{ path: story.projectPath, usedAt: story.times.completed }], browsed: story.folder },
);

export const SearchHits = body(
  record('SearchHits', 'Messages found by the daemon of the device.', {
    hits: list(
      record('SearchHit', 'A message that matches.', {
        sessionId: sessionId('The session'),
        title: line('Title of the session'),
        ...hit,
      }),
      'Newest sessions first, and within each session the newest messages first',
      { maxItems: searchLimits.hits },
    ),
    more: maybe(flag('The daemon stopped before it searched all transcripts')),
  }),
  { hits: [{ sessionId: story.sessionId, title: story.title, ...story.hit }] },
);

const SearchQuery = Type.Object({ q: searchQuery });

export const DeviceUsage = body(
  record('DeviceUsage', 'Usage figures of a device, from its daemon.', {
    deviceId: id('Device id'),
    days: usageDays,
    since,
  }),
  {
    deviceId: story.deviceId,
    days: [{ ...story.spending.day, agentType: story.agentType }],
    since: story.spending.since,
  },
);

const FoldersQuery = Type.Object({
  path: maybe(
    text('Also list the subfolders of this folder, from a daemon that declared `browse`; empty: the allowed folders', {
      maxLength: limits.pathCharacters,
    }),
  ),
});

const UsageQuery = Type.Object({
  from: calendarDay('First day'),
  to: calendarDay('Last day; the range is at most 92 days'),
  zone: timeZone('Time zone of the days (IANA), such as `Europe/Paris`'),
});

const fromDevice = [
  'DEVICE_NOT_FOUND',
  'NOT_SUPPORTED_BY_DEVICE',
  'DEVICE_OFFLINE',
  'DEVICE_TIMEOUT',
  'DEVICE_ERROR',
] as const;

export type Device = Static<typeof Device>;
export type DevicePing = Static<typeof DevicePing>;
export type ConnectionList = Static<typeof ConnectionList>;
export type DeviceConflict = Static<typeof DeviceConflict>;
export type ChangeContinue = Static<typeof ChangeContinue>;
export type BrowsedFolder = Static<typeof BrowsedFolder>;
export type FolderList = Static<typeof FolderList>;
export type SearchHits = Static<typeof SearchHits>;
export type DeviceUsage = Static<typeof DeviceUsage>;

export const deviceRoutes = {
  listDevices: {
    method: 'GET',
    path: '/api/devices',
    credential: 'user',
    summary: 'List devices',
    scope: 'devices:read',
    success: { 200: DeviceList },
    errors: [],
  },
  updateDevice: {
    method: 'PATCH',
    path: '/api/devices/:id',
    credential: 'user',
    summary: 'Rename a device',
    scope: 'devices:write',
    body: UpdateDevice,
    success: { 200: Device },
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
    success: { 200: DevicePing },
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
    success: { 200: FolderList },
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
    errors: fromDevice,
  },
  readUsage: {
    method: 'GET',
    path: '/api/devices/:id/usage',
    credential: 'user',
    summary: 'Turns, cost and tokens of each agent of a device by day, from its daemon',
    scope: 'devices:read',
    query: UsageQuery,
    success: { 200: DeviceUsage },
    errors: fromDevice,
  },
  changeContinue: {
    method: 'PATCH',
    path: '/api/devices/:id/continue',
    credential: 'user',
    summary: 'Let sessions of an agent continue by themselves after a usage limit, or ask each time',
    scope: 'sessions:write',
    body: ChangeContinue,
    success: { 200: Device },
    errors: ['DEVICE_NOT_FOUND', 'AGENT_NOT_OFFERED'],
  },
} as const satisfies Rows;

export const connectionRoutes = {
  listConnections: {
    method: 'GET',
    path: '/api/devices/:id/connections',
    credential: 'user',
    summary: 'The newest 50 connections of a device',
    scope: 'devices:read',
    success: { 200: ConnectionList },
    errors: ['DEVICE_NOT_FOUND'],
  },
} as const satisfies Rows;
