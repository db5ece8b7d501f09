/**
 * Push services that accept deliveries and answer at random with every possible outcome; they record the deliveries
 * that they accepted.
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddSubscription } from '@relay/protocol';
import { openPushKeys, startApnsDouble, startPushReceiver } from '@relay/testing';
import type { Chance } from './chance.ts';

type Kind = AddSubscription['kind'];
export const kinds: readonly Kind[] = ['ntfy', 'webhook', 'webpush', 'unifiedpush', 'fcm', 'apns'];

/** A status, no answer, or an answer whose body never completes. */
type Answer = number | 'silence' | 'endless';
const failures: readonly Answer[] = [
  ...[302, 400, 401, 403, 404, 408, 410, 413, 425, 429, 500, 502, 503],
  ...(['silence', 'endless'] as const),
];
/** Each of these means that the service accepted the delivery. */
const successes = [200, 201, 202, 204] as const;
const isTaken = (answer: Answer) => answer === 'endless' || (typeof answer === 'number' && answer < 300);

export interface PushDoubles {
  /** Variables for the apis. */
  readonly env: Record<string, string>;
  /** The body that adds the address `n` of this kind. */
  bodyOf(kind: Kind, n: number): AddSubscription;
  /** The number of times that a service accepted a delivery, by its id; for ntfy by its sequence. */
  readonly taken: Map<string, number>;
  /** The number of times that a service gave an answer. */
  readonly answers: Map<string, number>;
  /** Accepts every request from now on. */
  calm(): void;
  stop(): Promise<void>;
}

export async function startPushDoubles(chance: Chance): Promise<PushDoubles> {
  const taken = new Map<string, number>();
  const answers = new Map<string, number>();
  let isCalm = false;
  const note = (id: string): Answer => {
    const answer = isCalm || chance.below(100) < 65 ? chance.pick(successes) : chance.pick(failures);
    answers.set(String(answer), (answers.get(String(answer)) ?? 0) + 1);
    if (isTaken(answer)) taken.set(id, (taken.get(id) ?? 0) + 1);
    return answer;
  };
  const headersOf = (answer: number) => (answer === 429 || answer === 503 ? { 'retry-after': '1' } : {});

  const receiver = await startPushReceiver();
  const app = openPushKeys();
  const give = (response: ServerResponse, answer: Answer, body = '{}') => {
    if (answer === 'silence') return;
    if (answer !== 'endless') {
      response.writeHead(answer, headersOf(answer)).end(answer === 204 ? undefined : body);
      return;
    }
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
    };
    response.on('drain', pour);
    pour();
  };
  receiver.answer = (response, { path, headers, body }) => {
    receiver.received.length = 0;
    if (path === '/token') {
      response.end(JSON.stringify({ access_token: 'ya29.chaos', expires_in: 3600 }));
      return;
    }
    const read = (text: Buffer) => (app.read(text) as { notification: { data: { deliveryId: string } } }).notification;
    let id: string;
    if (path.startsWith('/hook/')) id = String(headers['webhook-id']);
    else if (path.startsWith('/push/')) id = read(body).data.deliveryId;
    else {
      // ntfy has a text in `message`, Firebase an object.
      const { sequence_id: sequence, message } = JSON.parse(body.toString()) as {
        sequence_id?: string;
        message: { data: { sealed: string } };
      };
      id = sequence ?? read(Buffer.from(message.data.sealed, 'base64url')).data.deliveryId;
    }
    const answer = note(id);
    const code = answer === 404 ? 'UNREGISTERED' : 'INTERNAL';
    give(response, answer, JSON.stringify({ error: { details: [{ errorCode: code }] } }));
  };
  const apple = await startApnsDouble();
  apple.answer = (stream, { body }) => {
    apple.received.length = 0;
    const sealed = app.read(Buffer.from(String(body.sealed), 'base64url')) as {
      notification: { data: { deliveryId: string } };
    };
    const answer = note(sealed.notification.data.deliveryId);
    if (answer === 'silence') return;
    const status = answer === 'endless' ? 200 : answer;
    stream.respond({ ':status': status, ...headersOf(status) });
    if (answer === 'endless') stream.write('x'.repeat(128 * 1024));
    else stream.end(JSON.stringify({ reason: 'Chaos', timestamp: Date.now() }));
  };

  const folder = mkdtempSync(join(tmpdir(), 'relay-chaos-'));
  const [fcmFile, apnsFile] = [join(folder, 'fcm.json'), join(folder, 'apns.p8')];
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const account = {
    project_id: 'chaos',
    client_email: 'relay@chaos.iam.gserviceaccount.com',
    token_uri: `${receiver.url}/token`,
    private_key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem),
  };
  writeFileSync(fcmFile, JSON.stringify(account));
  writeFileSync(apnsFile, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem));

  return {
    env: {
      PUSH_SECRET: 'the secret of chaos is long enough for this',
      PUSH_ALLOWED_HOSTS: receiver.host,
      FCM_SERVICE_ACCOUNT_FILE: fcmFile,
      FCM_URL: receiver.url,
      APNS_KEY_FILE: apnsFile,
      APNS_KEY_ID: 'CHAOS00001',
      APNS_TEAM_ID: 'CHAOS00002',
      APNS_TOPIC: 'com.example.relay',
      APNS_URL: apple.url,
    },
    bodyOf: (kind, n) => {
      const { keys } = app;
      if (kind === 'ntfy') return { kind, url: receiver.url, topic: `chaos-${n}` };
      if (kind === 'webhook') return { kind, url: `${receiver.url}/hook/${n}` };
      if (kind === 'webpush' || kind === 'unifiedpush') return { kind, endpoint: `${receiver.url}/push/${n}`, keys };
      return { kind, token: `${'0'.repeat(56)}${String(n).padStart(8, '0')}`, keys };
    },
    taken,
    answers,
    calm: () => (isCalm = true),
    stop: async () => {
      await receiver.close();
      await apple.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The sequence by which ntfy identifies the delivery of a notification without a session. */
export const sequenceOf = (cause: string, deliveryId: string): string =>
  createHash('sha256').update(`${cause}:${deliveryId}`).digest('base64url').slice(0, 32);
