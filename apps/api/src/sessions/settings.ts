/** The settings of a session and the defaults of an agent, which its daemon keeps, and the choices that go with a message. */
import { type Db, capabilitiesOf, findDevice } from '@relay/database';
import {
  type AgentSettings,
  type DefaultChange,
  type MessageSetting,
  RelayError,
  type SessionSettings,
  type Setting,
  type SettingChange,
  capabilities,
} from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requirePlace } from './find.ts';

const tooOld = () => new RelayError('NOT_SUPPORTED_BY_DEVICE');

/**
 * The settings as the task keeps them; undefined if empty.
 * @throws RelayError NOT_SUPPORTED_BY_DEVICE
 */
export async function requireControls(
  tx: Db,
  deviceId: string,
  settings: readonly MessageSetting[] | undefined,
): Promise<string | undefined> {
  if (settings === undefined || settings.length === 0) return undefined;
  if (!(await capabilitiesOf(tx, deviceId)).includes(capabilities.controls)) throw tooOld();
  const kept = settings.map(({ id, value, keep }) => ({ id, value, ...(keep === true ? { keep } : {}) }));
  return JSON.stringify(kept);
}

/** The audit entry: ids of the agent, no text of people. */
export const settingNote = ({ id, value }: { id: string; value: string | null }): string =>
  `${id}=${value ?? ''}`.slice(0, 256);

/** True if the daemon marks this value as never asking. */
const isDanger = (settings: readonly Setting[], { id, value }: { id: string; value: string }): boolean =>
  settings.find((one) => one.id === id)?.options.find((option) => option.id === value)?.danger === true;

interface SettingsRequest {
  known?: boolean;
  change?: SettingChange;
  /** Rejects if the person did not sign in a short time ago. */
  requireRecent?: () => Promise<void>;
}

/**
 * GET and, with a change, PATCH /api/sessions/:id/settings. The daemon decides whether the change is possible.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, SETTINGS_NOT_SUPPORTED, NOT_SUPPORTED_BY_DEVICE, INVALID_SETTING,
 *   SETTING_NOT_ALLOWED, SIGN_IN_NOT_RECENT, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function settingsOf(
  deps: Operations,
  userId: string,
  sessionId: string,
  { known = false, change, requireRecent }: SettingsRequest = {},
): Promise<SessionSettings> {
  const place = await requirePlace(deps, userId, sessionId);
  const { deviceId, id, nativeId } = place;
  const declared = await capabilitiesOf(deps.database, deviceId);
  if (!declared.includes(capabilities.settings)) throw new RelayError('SETTINGS_NOT_SUPPORTED');
  if ((known || change?.keep === true) && !declared.includes(capabilities.controls)) throw tooOld();
  requireNamed(place, 'settings');
  const about = { v: 1, kind: 'ask_settings', sessionId: nativeId } as const;
  if (change?.keep === true && requireRecent) {
    const { settings } = await askDaemon(deps, deviceId, { ...about, known: true }, 'session_settings');
    if (isDanger(settings, change)) await requireRecent();
  }
  const command = {
    ...about,
    ...(known ? { known } : {}),
    ...(change ? { change: { id: change.id, value: change.value } } : {}),
    ...(change?.keep === true ? { keep: true } : {}),
    ...(change?.on === undefined ? {} : { changedOn: change.on }),
  };
  const { settings, asOf, can } = await askDaemon(deps, deviceId, command, 'session_settings');
  return {
    sessionId: id,
    settings,
    ...(asOf === undefined ? {} : { asOf }),
    ...(can === undefined ? {} : { can }),
  };
}

interface DefaultsRequest {
  agentType?: string | undefined;
  projectPath?: string | undefined;
  change?: DefaultChange;
  requireRecent?: () => Promise<void>;
}

/**
 * GET and, with a change, PATCH /api/devices/:id/settings.
 * @throws RelayError DEVICE_NOT_FOUND, NOT_SUPPORTED_BY_DEVICE, INVALID_SETTING, SETTING_NOT_ALLOWED, SIGN_IN_NOT_RECENT, DEVICE_OFFLINE,
 *   DEVICE_TIMEOUT, DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function defaultsOf(
  deps: Operations,
  userId: string,
  deviceId: string,
  { agentType, projectPath, change, requireRecent }: DefaultsRequest,
): Promise<AgentSettings> {
  const device = await findDevice(deps.database, userId, deviceId);
  if (!device) throw new RelayError('DEVICE_NOT_FOUND');
  if (!(await capabilitiesOf(deps.database, deviceId)).includes(capabilities.controls)) throw tooOld();
  const about = {
    v: 1,
    kind: 'ask_agent_settings',
    ...(agentType === undefined || agentType === device.agentType ? {} : { agentType }),
    ...(projectPath === undefined ? {} : { projectPath }),
  } as const;
  if (change && change.value !== null && requireRecent) {
    const { settings } = await askDaemon(deps, deviceId, about, 'agent_settings');
    if (isDanger(settings, { id: change.id, value: change.value })) await requireRecent();
  }
  const command = {
    ...about,
    ...(change ? { change: { id: change.id, value: change.value } } : {}),
    ...(change?.on === undefined ? {} : { changedOn: change.on }),
  };
  const { settings, asOf, can } = await askDaemon(deps, deviceId, command, 'agent_settings');
  const named = agentType ?? device.agentType;
  if (change) await deps.publisher.append(userId, { type: 'device_settings_changed', deviceId, agentType: named }, 'x');
  return {
    deviceId,
    agentType: named,
    settings,
    ...(asOf === undefined ? {} : { asOf }),
    ...(can === undefined ? {} : { can }),
  };
}
