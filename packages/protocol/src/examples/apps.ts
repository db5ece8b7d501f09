/** The frames of `/ws/attention`: one golden example each. Offsets are opaque texts. */
import type { attentionFrames, fromAppFrames } from '../frames/attention.ts';
import type { ExamplesOf } from './shape.ts';
import { inboxCounts, inboxItem } from './inbox.ts';
import { started } from './sessions.ts';
import { ops, versionAt } from './transcript.ts';
import { accessToken, deviceId, messages, output, pendingSessionId, sessionId, tasks } from './story.ts';

export const attentionExamples: ExamplesOf<typeof attentionFrames> = {
  session_update: { type: 'session_update', session: started, previousId: pendingSessionId, offset: 'm8x2k1-17' },
  new_message: { type: 'new_message', sessionId, message: messages[3], offset: 'm8x2k1-24' },
  device_status: { type: 'device_status', deviceId, status: 'online', offset: 'm8x2k1-12' },
  task_output: { type: 'task_output', sessionId, taskId: tasks.start, output, sequence: 1, offset: 'm8x2k1-17' },
  transcript: { type: 'transcript', sessionId, v: versionAt(7), ops },
  session_removed: { type: 'session_removed', sessionId, offset: 'm8x2k1-31' },
  device_removed: { type: 'device_removed', deviceId, offset: 'm8x2k1-32' },
  sessions_changed: { type: 'sessions_changed', count: 1500, offset: 'm8x2k1-33' },
  settings_changed: { type: 'settings_changed', sessionId, offset: 'm8x2k1-35' },
  device_settings_changed: { type: 'device_settings_changed', deviceId, agentType: 'codex', offset: 'm8x2k1-36' },
  later_changed: { type: 'later_changed', count: 4, offset: 'm8x2k1-37' },
  access_granted: {
    type: 'access_granted',
    kind: 'device',
    name: 'My laptop',
    at: '2026-03-14T09:00:00.000Z',
    offset: 'm8x2k1-34',
  },
  inbox_update: {
    type: 'inbox_update',
    version: 42,
    counts: inboxCounts,
    changed: [inboxItem],
    removed: ['0c9b7f0e-52a1-4d55-8e63-3a7f0e1b2c4d'],
    offset: 'm8x2k1-36',
  },
  resync: { type: 'resync' },
  auth_ok: { type: 'auth_ok', expiresAt: '2026-03-14T10:10:00.000Z' },
};

export const fromAppExamples: ExamplesOf<typeof fromAppFrames> = {
  auth: { type: 'auth', token: accessToken },
  focus: { type: 'focus', sessionId, visible: true },
};
