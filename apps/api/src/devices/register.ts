/** Device registration (rules, chapter 7): a code for the daemon, a person who decides, a credential that is shown once. */
import {
  createDeviceCode as newDeviceCode,
  createUserCode,
  deriveDeviceToken,
  hashDeviceCode,
  hashDeviceKey,
  hashDeviceToken,
  normalizeUserCode,
} from '@relay/auth';
import {
  type NewDeviceCode,
  createDeviceCode,
  decideDeviceCode,
  newUlid,
  pollDeviceCode,
  readDeviceCode,
  redeemDeviceKey,
} from '@relay/database';
import { type CodeDetail, type DeviceCode, type PollError, RelayError, type RequestCode } from '@relay/protocol';
import { randomBytes } from 'node:crypto';
import { notifyAllowed } from '../account/notify-allowed.ts';
import type { Operations } from '../deps.ts';
import { requireShowable } from './names.ts';

const repeatMs = 60_000;
const attempts = 5;

interface RequestedCode {
  answer: DeviceCode;
  /** The device, and its person, where a registration key approved it. */
  approved?: { deviceId: string; userId: string } | undefined;
}

/**
 * Begins a registration. `boundTo`: the user whose bearer token came with the request; only that user can approve. A registration
 * key approves it at once, for the person who made the key.
 * @throws RelayError INVALID_REQUEST, KEY_NOT_VALID, TOO_MANY_DEVICES
 */
export async function requestCode(
  deps: Operations,
  body: RequestCode,
  requestedFrom: string,
  boundTo: string | undefined,
): Promise<RequestedCode> {
  const agentType = body.agent_type ?? body.agentType;
  if (agentType === undefined) throw new RelayError('INVALID_REQUEST', 'In the body, "agent_type" is required.');
  for (const name of [body.hostname, body.device_name, body.deviceName]) requireShowable(name);
  const deviceName = (body.device_name ?? body.deviceName ?? '').trim() || body.hostname;
  const { deviceCodeTtlSeconds: expiresIn, devicePollIntervalSeconds: interval, publicUrl } = deps.config;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const deviceCode = newDeviceCode();
    const userCode = createUserCode();
    const code = {
      codeHash: hashDeviceCode(deviceCode),
      userCode,
      hostname: body.hostname,
      agentType,
      deviceName,
      requestedFrom,
      boundTo,
      deviceId: newUlid(),
      tokenSalt: randomBytes(32).toString('base64url'),
      ttlSeconds: expiresIn,
    };
    const userId = body.key === undefined ? undefined : await redeem(deps, body.key, code);
    if (body.key === undefined ? !(await createDeviceCode(deps.database, code)) : userId === undefined) continue;
    const verificationUri = `${publicUrl}/device`;
    const verificationUrl = `${verificationUri}?user_code=${userCode}`;
    const answer = {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: verificationUri,
      verification_uri_complete: verificationUrl,
      verification_url: verificationUrl,
      expires_in: expiresIn,
      interval,
      deviceCode,
      userCode,
      verificationUri,
      verificationUrl,
      expiresIn,
      ...(userId === undefined ? {} : { approved: true }),
    };
    return { answer, approved: userId === undefined ? undefined : { userId, deviceId: code.deviceId } };
  }
  throw new RelayError('SERVICE_UNAVAILABLE', 'Too many registrations wait right now. Try again in a minute.', {
    retryAfter: 60,
  });
}

/** The person who made the key; undefined: ask again with another user code. @throws RelayError KEY_NOT_VALID, TOO_MANY_DEVICES */
async function redeem(deps: Operations, key: string, code: NewDeviceCode): Promise<string | undefined> {
  const redeemed = await redeemDeviceKey(deps.database, hashDeviceKey(key), code, deps.config.devicesPerUser);
  if (redeemed.kind === 'taken') return undefined;
  if (redeemed.kind === 'invalid') throw new RelayError('KEY_NOT_VALID');
  if (redeemed.kind === 'full') throw tooManyDevices(deps);
  await notifyAllowed(deps, redeemed.userId, { kind: 'device', name: redeemed.name });
  return redeemed.userId;
}

const tooManyDevices = ({ config }: Operations) =>
  new RelayError(
    'TOO_MANY_DEVICES',
    `You have ${config.devicesPerUser} devices, which is the limit. Remove one, then approve this one again.`,
  );

type PollAnswer =
  | { kind: 'granted'; deviceId: string; refreshToken: string }
  | { kind: 'refused'; error: PollError; /** At the pace of a live code */ legal: boolean };

/**
 * Answers a poll. Only callers of the standard's spelling (`patient`) receive `slow_down`: daemons in the field give up on
 * anything but `authorization_pending`.
 */
export async function pollCode(deps: Operations, deviceCode: string, patient: boolean): Promise<PollAnswer> {
  const tokenOf = (salt: string) => deriveDeviceToken(deviceCode, salt);
  const poll = await pollDeviceCode(deps.database, hashDeviceCode(deviceCode), {
    intervalSeconds: deps.config.devicePollIntervalSeconds,
    repeatMs,
    tokenHashOf: (salt) => hashDeviceToken(tokenOf(salt)),
  });
  switch (poll.kind) {
    case 'granted':
      return { kind: 'granted', deviceId: poll.deviceId, refreshToken: tokenOf(poll.tokenSalt) };
    case 'pending':
      return {
        kind: 'refused',
        error: poll.tooFast && patient ? 'slow_down' : 'authorization_pending',
        legal: !poll.tooFast,
      };
    case 'denied':
      return { kind: 'refused', error: 'access_denied', legal: false };
    case 'expired':
      return { kind: 'refused', error: 'expired_token', legal: false };
    case 'unknown':
      return { kind: 'refused', error: 'invalid_grant', legal: false };
  }
}

const notFound = () => new RelayError('CODE_NOT_FOUND');
const used = () => new RelayError('CODE_ALREADY_USED');

/** @throws RelayError CODE_NOT_FOUND, CODE_ALREADY_USED */
export async function readCode(deps: Operations, userId: string, text: string): Promise<CodeDetail> {
  const userCode = normalizeUserCode(text);
  const state = userCode === undefined ? undefined : await readDeviceCode(deps.database, userCode, userId);
  if (state?.kind === 'used') throw used();
  if (state?.kind !== 'pending') throw notFound();
  return state.detail;
}

/**
 * Returns the id that the device will have; an approval is published to the apps of the person.
 * @throws RelayError CODE_NOT_FOUND, CODE_ALREADY_USED, TOO_MANY_DEVICES
 */
export async function decideCode(deps: Operations, userId: string, text: string, approve: boolean): Promise<string> {
  const userCode = normalizeUserCode(text);
  const decision =
    userCode === undefined
      ? undefined
      : await decideDeviceCode(deps.database, userCode, userId, approve, deps.config.devicesPerUser);
  if (decision?.kind === 'used') throw used();
  if (decision?.kind === 'full') throw tooManyDevices(deps);
  if (decision?.kind !== 'decided') throw notFound();
  if (approve) await notifyAllowed(deps, userId, { kind: 'device', name: decision.name });
  return decision.deviceId;
}
