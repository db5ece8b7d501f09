/** Routes of devices and their registration. */
import {
  type ChangeContinue,
  type Device,
  RelayError,
  limits,
  pollErrors,
  type deviceRoutes,
  type deviceSettingRoutes,
  type uploadRoutes,
  type connectionRoutes,
  type registrationRoutes,
} from '@relay/protocol';
import {
  agentTypesOf,
  changeContinues,
  findDevice,
  listConnections,
  listDevices,
  renameDevice,
  withDevice,
} from '@relay/database';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import type { Operations } from '../deps.ts';
import { ownerByDeviceToken, removeDevice } from '../devices/remove-device.ts';
import { browseFolders } from '../devices/browse-folders.ts';
import { dropFile, sendFile, sendPiece } from '../devices/send-files.ts';
import { readUsage } from '../devices/read-usage.ts';
import { searchMessages } from '../devices/search-messages.ts';
import { requireShowable, requireText } from '../devices/names.ts';
import { decideCode, pollCode, readCode, requestCode } from '../devices/register.ts';
import { askDaemon } from '../sessions/ask-daemon.ts';
import { defaultsOf, settingNote } from '../sessions/settings.ts';
import { addressOf, networkOfRequest } from '../http/address.ts';
import type { HandlerCall, Handlers } from '../http/pipeline.ts';

type Rows = typeof deviceRoutes &
  typeof deviceSettingRoutes &
  typeof uploadRoutes &
  typeof connectionRoutes &
  typeof registrationRoutes;

/** Routes whose path has a code that a person typed. */
type CodeRoutes = 'readCode' | 'approveCode' | 'denyCode';

const missing = () => new RelayError('DEVICE_NOT_FOUND');

/** Some daemons store `now + expiresIn`, and look for `accessToken` (rules, 7.7). */
const credentialOf = ({ deviceId, refreshToken: token }: { deviceId: string; refreshToken: string }) => ({
  device_id: deviceId,
  refresh_token: token,
  deviceId,
  refreshToken: token,
  access_token: token,
  accessToken: token,
  expires_in: limits.deviceTokenIdleSeconds,
  expiresIn: limits.deviceTokenIdleSeconds,
  token_type: 'Bearer' as const,
});

/** Rules, 26.13. @throws RelayError DEVICE_NOT_FOUND, AGENT_NOT_OFFERED */
async function changeContinue(
  { database, publisher }: Operations,
  userId: string,
  deviceId: string,
  { agentType, mode }: ChangeContinue,
): Promise<Device> {
  const isAuto = mode === 'auto';
  const removed = await withDevice(database, deviceId, async (tx, device) => {
    if (device?.ownerId !== userId) throw missing();
    if (isAuto && !(await agentTypesOf(tx, device)).includes(agentType)) throw new RelayError('AGENT_NOT_OFFERED');
    return changeContinues(tx, deviceId, agentType, isAuto);
  });
  await publisher.sessions(removed);
  const device = await findDevice(database, userId, deviceId);
  if (!device) throw missing();
  return device;
}

export function deviceHandlers(deps: Operations): Handlers<keyof Rows> {
  const db = deps.database;

  /** Counts wrong codes, per user and per address; after too many guesses every code is refused, right or wrong. */
  const guarded = async <T>(
    call: HandlerCall<CodeRoutes>,
    work: (userId: string, userCode: string) => Promise<T>,
  ): Promise<T> => {
    const { userId } = call.principal;
    const takeBack = await call.limits.guess(userId, networkOfRequest(call.request));
    try {
      const result = await work(userId, call.params.userCode);
      await takeBack();
      return result;
    } catch (error) {
      if (!(error instanceof RelayError && error.code === 'CODE_NOT_FOUND')) await takeBack();
      throw error;
    }
  };

  return {
    listDevices: async (call) => ({ status: 200, body: { devices: await listDevices(db, call.principal.userId) } }),
    updateDevice: async (call) => {
      const name = call.body.name.trim();
      requireText(name, 'name');
      requireShowable(name);
      const device = await renameDevice(db, call.principal.userId, call.params.id, name);
      if (!device) throw missing();
      return { status: 200, body: device };
    },
    deleteDevice: async (call) => {
      const ownerId =
        call.principal?.userId ?? (await ownerByDeviceToken(deps, call.params.id, call.request.headers.authorization));
      if (!call.principal) Object.assign(call.note, { userId: ownerId, program: 'device' });
      await removeDevice(deps, ownerId, call.params.id);
      return { status: 204 };
    },
    pingDevice: async ({ principal, params }) => {
      const device = await findDevice(db, principal.userId, params.id);
      if (!device) throw missing();
      const beganMs = performance.now();
      await askDaemon(deps, device.id, { v: 1, kind: 'ask_pong' }, 'device_pong');
      return { status: 200, body: { ms: Math.round(performance.now() - beganMs) } };
    },
    sendFile: async ({ principal, params, body, note }) => {
      note.setting = `bytes=${body.size}`;
      return { status: 201, body: await sendFile(deps, principal.userId, params.id, body) };
    },
    readSentFile: async ({ principal, params: { id, fileId } }) => ({
      status: 200,
      body: await sendPiece(deps, principal.userId, id, { fileId, offset: 0, bytes: new Uint8Array() }),
    }),
    sendPiece: async ({ principal, params: { id, fileId }, query: { offset }, body: bytes }) => ({
      status: 200,
      body: await sendPiece(deps, principal.userId, id, { fileId, offset, bytes }),
    }),
    dropFile: async ({ principal, params: { id, fileId } }) => {
      await dropFile(deps, principal.userId, id, fileId);
      return { status: 204 };
    },
    listFolders: async ({ principal, params, query }) => ({
      status: 200,
      body: await browseFolders(deps, principal.userId, params.id, query.path),
    }),
    searchMessages: async ({ principal, params, query }) => ({
      status: 200,
      body: await searchMessages(deps, principal.userId, params.id, query.q),
    }),
    readUsage: async ({ principal, params, query }) => ({
      status: 200,
      body: await readUsage(deps, principal.userId, params.id, query),
    }),
    readDeviceSettings: async ({ principal, params, query }) => ({
      status: 200,
      body: await defaultsOf(deps, principal.userId, params.id, query),
    }),
    changeDeviceSetting: async (call) => {
      const { body: change, principal, params } = call;
      call.note.setting = settingNote(change);
      requireShowable(change.on);
      const requireRecent = () => requireRecentSignIn(deps, principal);
      const { agentType } = change;
      return {
        status: 200,
        body: await defaultsOf(deps, principal.userId, params.id, { agentType, change, requireRecent }),
      };
    },
    changeContinue: async ({ body, note, params, principal }) => {
      note.setting = `continue=${body.mode}`;
      return { status: 200, body: await changeContinue(deps, principal.userId, params.id, body) };
    },
    listConnections: async (call) => {
      if (!(await findDevice(db, call.principal.userId, call.params.id))) throw missing();
      return { status: 200, body: { connections: await listConnections(db, call.params.id) } };
    },
    requestCode: async (call) => {
      const from = addressOf(call.request);
      const { answer, approved } = await requestCode(deps, call.body, from, call.principal?.userId);
      if (approved)
        Object.assign(call.note, { userId: approved.userId, target: approved.deviceId, program: 'registration key' });
      return { status: 200, body: answer };
    },
    pollCode: async (call) => {
      const deviceCode = call.body.device_code ?? call.body.deviceCode;
      if (deviceCode === undefined) throw new RelayError('INVALID_REQUEST', 'In the body, "device_code" is required.');
      const answer = await pollCode(deps, deviceCode, call.body.device_code !== undefined);
      if (answer.kind === 'granted') {
        return { status: 200, free: true, body: credentialOf(answer) };
      }
      // RFC 8628 §3.5: `error` is the machine-readable string; ours goes beside it.
      const body = {
        error: answer.error,
        error_description: pollErrors[answer.error],
        code: answer.error.toUpperCase(),
        status: 400 as const,
      };
      return { status: 400, free: answer.legal, body };
    },
    readCode: async (call) => ({
      status: 200,
      body: await guarded(call, (userId, code) => readCode(deps, userId, code)),
    }),
    approveCode: async (call) => {
      // Before the code is read: a caller who cannot approve learns nothing about it.
      await requireRecentSignIn(deps, call.principal);
      const deviceId = await guarded(call, (userId, code) => decideCode(deps, userId, code, true));
      call.note.target = deviceId;
      return { status: 200, body: { deviceId, approved: true } };
    },
    denyCode: async (call) => {
      await guarded(call, (userId, code) => decideCode(deps, userId, code, false));
      return { status: 200, body: { approved: false } };
    },
  };
}
