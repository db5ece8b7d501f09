/** Opens the services for apps of the stores from the operator's configuration. Read once, at the start. */
import { type RelayConfig, ConfigError } from '@relay/config';
import { type Apns, createApns, readApnsKey } from './apns.ts';
import { type Fcm, createFcm, readServiceAccount } from './fcm.ts';
import type { Poster } from './post.ts';
import { readVapidKey, type VapidKeys, vapidKeysOf } from './vapid.ts';

interface Services {
  fcm: Fcm | undefined;
  apns: Apns | undefined;
  /** The keys of the operator; if present, they replace the relay's own keys. */
  vapid: VapidKeys | undefined;
}

/** @throws ConfigError with the name of the variable whose file or key cannot be used */
export function openServices(config: RelayConfig, poster: Poster, contact: string | undefined): Services {
  const { fcmUrl, apnsKeyId: keyId = '', apnsTeamId: teamId = '', apnsTopic: topic = '', apnsUrl } = config;
  const account = readFrom('FCM_SERVICE_ACCOUNT_FILE', config.fcmServiceAccountFile, readServiceAccount);
  // The configuration requires either all four settings of Apple or no setting.
  const key = readFrom('APNS_KEY_FILE', config.apnsKeyFile, readApnsKey);
  const keys = config.vapidPrivateKey.map((text) => {
    try {
      return readVapidKey(text);
    } catch {
      throw refusal('VAPID_PRIVATE_KEY', 'VAPID_PRIVATE_KEY has a value that is no private key of P-256.');
    }
  });
  return {
    fcm: account && createFcm(account, fcmUrl, poster, Date.now),
    apns: key && createApns({ key, keyId, teamId, topic }, apnsUrl, Date.now),
    vapid: vapidKeysOf(keys, contact),
  };
}

const refusal = (variable: string, message: string) => new ConfigError([{ variable, message }]);

function readFrom<T>(variable: string, file: string | undefined, read: (file: string) => T): T | undefined {
  if (file === undefined) return undefined;
  try {
    return read(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The message of a parser can quote a piece of the key; ours begin like this.
    const ours = message.startsWith('it') ? message : undefined;
    const isOfFiles = code !== undefined && /^E[A-Z]+$/.test(code);
    const why = ours ?? (isOfFiles ? `it cannot be read (${code})` : 'it holds no such key');
    throw refusal(variable, `${variable} names the file ${file}, which cannot be used: ${why}.`);
  }
}
