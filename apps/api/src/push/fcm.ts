/**
 * Firebase Cloud Messaging, HTTP v1: an assertion signed with the key of a service account is changed into an access token, which every
 * message carries (https://firebase.google.com/docs/cloud-messaging/send/v1-api).
 */
import { type KeyObject, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClaimedDelivery } from '@relay/database';
import jwt from 'jsonwebtoken';
import { appMessageOf } from './app-message.ts';
import { type PushMessage, topicOf } from './message.ts';
import type { PostAnswer, Poster } from './post.ts';
import { ServiceRefused } from './outcome.ts';
import { type ServiceToken, createServiceToken } from './service-token.ts';
import type { AppTarget } from './targets.ts';

interface ServiceAccount {
  projectId: string;
  email: string;
  tokenUrl: URL;
  key: KeyObject;
}

const assertionSeconds = 3600;
/** Renewed this long before it expires. */
const marginMs = 300_000;
const leastUseMs = 60_000;

/** Google's file of a service account. @throws Error whose message completes the sentence "the file …" */
export function readServiceAccount(file: string): ServiceAccount {
  const given = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const field = (name: string) => {
    const value = given[name];
    if (typeof value !== 'string' || value === '') throw new Error(`it has no "${name}"`);
    return value;
  };
  return {
    projectId: field('project_id'),
    email: field('client_email'),
    tokenUrl: new URL(field('token_uri')),
    key: createPrivateKey(field('private_key')),
  };
}

export interface Fcm {
  /** @throws ServiceRefused if Google does not accept this relay, any other error if no answer arrives */
  send(target: AppTarget, message: PushMessage, delivery: ClaimedDelivery): Promise<PostAnswer>;
}

export function createFcm(
  { projectId, email, tokenUrl, key }: ServiceAccount,
  baseUrl: string,
  poster: Poster,
  now: () => number,
): Fcm {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/v1/projects/${encodeURIComponent(projectId)}/messages:send`);
  const accessToken: ServiceToken = createServiceToken(async () => {
    const issuedAt = Math.floor(now() / 1000);
    const claims = {
      iss: email,
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
      aud: tokenUrl.href,
      iat: issuedAt,
      exp: issuedAt + assertionSeconds,
    };
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: jwt.sign(claims, key, { algorithm: 'RS256' }),
    });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await poster.post({ url: tokenUrl, headers, body: form.toString(), readAnswer: true });
    const { access_token: token, expires_in: seconds } = parsed(answer.body);
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) throw new ServiceRefused(answer.status);
    if (typeof token !== 'string' || typeof seconds !== 'number') throw new Error('there was no access token');
    return { token, useMs: Math.max(leastUseMs, seconds * 1000 - marginMs) };
  }, now);

  return {
    send: async (target, message, delivery) => {
      const body = JSON.stringify({ message: bodyOf(target, message, delivery, now()) });
      const token = await accessToken.read();
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
      const answer = await poster.post({ url, headers, body, readAnswer: true });
      const meaning = meaningOf(answer);
      if (answer.status === 401) accessToken.discard(token);
      return { ...answer, ...(meaning === undefined ? {} : { meaning }) };
    },
  };
}

function bodyOf(target: AppTarget, message: PushMessage, delivery: ClaimedDelivery, now: number) {
  const { alert, data } = appMessageOf(target, message, delivery);
  const topic = topicOf(message);
  const seconds = Math.max(0, Math.ceil((delivery.expiresAt.getTime() - now) / 1000));
  const isSealed = target.keys !== undefined;
  return {
    token: target.token,
    // Android shows a `notification` by itself, and then the app could not open the sealed part: it receives the text in `data`
    // instead.
    ...(isSealed ? { data: { ...alert, ...data } } : { notification: alert, data }),
    android: {
      priority: message.urgent ? 'HIGH' : 'NORMAL',
      ttl: `${seconds}s`,
      collapse_key: topic,
      ...(isSealed ? {} : { notification: { tag: topic } }),
    },
    apns: {
      headers: { 'apns-priority': message.urgent ? '10' : '5', 'apns-collapse-id': topic },
      payload: { aps: { alert, 'mutable-content': 1 } },
    },
  };
}

/** The code of FCM is in the details of the error (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode). */
function meaningOf({ status, body }: PostAnswer): PostAnswer['meaning'] {
  if (status < 400) return undefined;
  const { error } = parsed(body) as { error?: { details?: unknown } };
  const details = Array.isArray(error?.details) ? (error.details as { errorCode?: unknown }[]) : [];
  const code = details.map((detail) => detail?.errorCode).find((each) => typeof each === 'string');
  if (code === 'UNREGISTERED') return 'gone';
  if (code === 'SENDER_ID_MISMATCH') return undefined;
  return [401, 403, 404].includes(status) ? 'ours' : undefined;
}

function parsed(body: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
