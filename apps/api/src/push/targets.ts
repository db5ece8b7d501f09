/** The sealed part of an address: all that its service needs (rules, 14.7). */
import type { NotificationLanguage } from '@relay/protocol';

/** The keys of a receiver, which seal a text until it arrives (RFC 8291). */
export interface ReceiverKeys {
  /** base64url. */
  p256dh: string;
  auth: string;
}
export interface NtfyTarget {
  kind: 'ntfy';
  url: string;
  topic: string;
  token?: string | undefined;
}
export interface WebhookTarget {
  kind: 'webhook';
  url: string;
  secret: string;
  /** Signs too, for a day after the rotation. */
  before?: { secret: string; until: number } | undefined;
}
/** A browser, or an app with UnifiedPush: both are reached by RFC 8030. */
export interface WebPushTarget extends ReceiverKeys {
  kind: 'webpush' | 'unifiedpush';
  endpoint: string;
  /** The key of this relay that the receiver was given. Absent in rows older than rotation. */
  vapidKey?: string | undefined;
}
export interface AppTarget {
  kind: 'fcm' | 'apns';
  /** The token of the app on its device. */
  token: string;
  keys?: ReceiverKeys | undefined;
  /** When the app registered it, in ms: a service's refusal can concern an earlier registration. */
  registeredAt: number;
}
/** The language of its notifications; absent in rows that are older than the choice. */
interface WithLanguage {
  language?: NotificationLanguage | undefined;
}
export type Target = (NtfyTarget | WebhookTarget | WebPushTarget | AppTarget) & WithLanguage;

/** The address that its person gave, as the guard checks it. Undefined for apps: their service is the operator's choice. */
export function addressOf(target: Target): string | undefined {
  switch (target.kind) {
    case 'ntfy':
    case 'webhook':
      return target.url;
    case 'webpush':
    case 'unifiedpush':
      return target.endpoint;
    case 'fcm':
    case 'apns':
      return undefined;
  }
}

/** Enough for its person to recognise it, without anything that would let others write there. `unique` distinguishes it from all others. */
export function identityOf(target: Target, url: URL | undefined): { shown: string; unique: string } {
  switch (target.kind) {
    case 'ntfy':
      return { shown: `${url!.host}/${target.topic}`, unique: JSON.stringify([target.kind, url!.href, target.topic]) };
    case 'fcm':
      return { shown: 'Firebase', unique: JSON.stringify([target.kind, target.token]) };
    case 'apns':
      return { shown: 'Apple', unique: JSON.stringify([target.kind, target.token.toLowerCase()]) };
    default:
      return { shown: url!.host, unique: JSON.stringify([target.kind, url!.href, '']) };
  }
}

/**
 * True if a browser or an app added the address: it is removed with that sign-in. A person typed the remaining addresses, and
 * repairs them.
 */
export const isOfProgram = (kind: Target['kind']): boolean => kind !== 'ntfy' && kind !== 'webhook';

/** The text of a session goes only where it is sealed until it arrives. */
export const isSealed = (target: Target): boolean =>
  target.kind === 'webpush' || target.kind === 'unifiedpush' || ('keys' in target && target.keys !== undefined);
