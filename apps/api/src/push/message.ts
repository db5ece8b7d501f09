/** The text of a notification, for every kind of address. Without `detail` it reveals nothing about the work (rules, 14.10). */
import { createHash } from 'node:crypto';
import { type DeliveryCause, type NotificationLanguage, cutText, withoutMarks } from '@relay/protocol';
import type { ClaimedDelivery, Failure } from '@relay/database';
import { questionText } from './question-text.ts';
import { notificationWords } from './words.ts';

/** An answer that the notification offers, with the token that gives it. */
export interface OfferedAnswer {
  action: 'allow' | 'reject' | 'reply';
  title: string;
  token: string;
}

export interface PushMessage {
  cause: DeliveryCause;
  /** The language of the relay's own texts. */
  language: NotificationLanguage;
  title: string;
  body: string;
  /** The page to open. */
  link: string;
  /** Equal for all messages about one session, so that a screen shows one of them. */
  topic: string;
  urgent: boolean;
  /** The body contains the whole question, so the person can allow it there. */
  isWhole?: boolean;
  /** The question that `answers` answer. */
  promptId?: string;
  answers?: readonly OfferedAnswer[];
  /** The number of items that wait for the person, for the icon, and its inbox version. */
  badge?: { count: number; version: number };
}

const ofPeople: readonly DeliveryCause[] = ['device_conflict', 'device_allowed', 'program_allowed', 'account_changed'];
/** Where those lead that concern no session; else to the machines. */
const pages: Partial<Record<DeliveryCause, string>> = { test: '/account', account_changed: '/activity' };
/** Room for the 400 characters of a question that a person can allow, in any script. */
const textBytes = 1200;
const titleBytes = 200;

export function messageOf(
  delivery: ClaimedDelivery,
  publicUrl: string,
  language: NotificationLanguage = 'en',
): PushMessage {
  const { cause, detail, sessionId, failure } = delivery;
  const words = notificationWords[language];
  const path =
    failure?.kind === 'missed'
      ? '/later'
      : sessionId === ''
        ? (pages[cause] ?? '/devices')
        : `/sessions/${encodeURIComponent(sessionId)}`;
  return {
    cause,
    language,
    title: failure === undefined ? words.titles[cause] : words.failures[failure.kind],
    ...bodyOf(delivery, detail, language),
    link: `${publicUrl}${path}`,
    topic:
      failure?.kind === 'missed'
        ? `missed:${failure.scheduleId}`
        : sessionId === ''
          ? `${cause}:${delivery.id}`
          : sessionId,
    urgent: cause === 'needs_you' || ofPeople.includes(cause),
  };
}

function bodyOf(
  { cause, title, text, question, waits, failure, quietHours }: ClaimedDelivery,
  detail: ClaimedDelivery['detail'],
  language: NotificationLanguage,
): Pick<PushMessage, 'body' | 'isWhole'> {
  if (cause === 'test') return { body: notificationWords[language].tested };
  if (detail === 'none') return { body: notificationWords[language].neutral };
  const name = cutText(title, titleBytes);
  if (detail === 'title' || ofPeople.includes(cause)) return { body: name };
  const shownText =
    failure !== undefined
      ? failureText(failure, language, quietHours?.timeZone)
      : waits === undefined
        ? withoutMarks(text)
        : notificationWords[language].atDesk(waits);
  const content =
    question === undefined || question.isCut ? { text: shownText, isWhole: false } : questionText(question);
  if (content.text === '') return { body: name };
  const shown = cutText(content.text, textBytes);
  return { body: `${name}\n${shown}`, isWhole: content.isWhole && shown === content.text };
}

/** A time nearer than this is a time of the day; a later one has its weekday. */
const ofDayMs = 20 * 3_600_000;

/** `zone`: of the person; unknown without quiet hours, and then the time names UTC. */
function failureText(failure: Failure, language: NotificationLanguage, zone: string | undefined): string {
  const words = notificationWords[language];
  if (failure.kind === 'missed') return words.missed(failure.reason);
  if (failure.kind === 'expired') return words.expired;
  const aheadMs = Date.parse(failure.resetsAt ?? '') - Date.now();
  if (!(aheadMs > 0)) return words.limit(undefined, failure.continues);
  const at = new Date(Date.now() + aheadMs).toLocaleString(language, {
    // German clocks have two digits: 07:49.
    ...{ hour: language === 'de' ? '2-digit' : 'numeric', minute: '2-digit', timeZone: zone ?? 'UTC' },
    ...(zone === undefined && { timeZoneName: 'short' }),
    ...(aheadMs > ofDayMs && { weekday: 'short' }),
  });
  return words.limit(at, failure.continues);
}

/** Short, and equal for one topic; it reveals nothing to a service. */
export const topicOf = ({ topic }: Pick<PushMessage, 'topic'>): string =>
  createHash('sha256').update(topic).digest('base64url').slice(0, 32);

/** The same message without session text, for a service that finds it too large or could read it. */
export const neutral = ({ cause, language, title, link, topic, urgent }: PushMessage): PushMessage => ({
  ...{ cause, language, title, link, topic, urgent },
  body: notificationWords[language].neutral,
});

/**
 * One message for many notifications (rules, 14.13 and 14.15). It names only causes and numbers, regardless of the address's
 * detail setting. `message`: of the delivery itself, unchanged if it is the only one.
 */
export function digestOf(
  message: PushMessage,
  others: readonly DeliveryCause[],
  delivery: Pick<ClaimedDelivery, 'cause' | 'subscriptionId'>,
  publicUrl: string,
): PushMessage {
  if (others.length === 0) return message;
  const words = notificationWords[message.language];
  const counts = new Map<DeliveryCause, number>();
  for (const cause of [delivery.cause, ...others]) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return {
    ...message,
    title: words.many(others.length + 1),
    body: [...counts].map(([cause, count]) => `${count} ${words.counted[cause][count === 1 ? 0 : 1]}`).join(' · '),
    link: `${publicUrl}/sessions`,
    topic: `digest:${delivery.subscriptionId}`,
    urgent: message.urgent || counts.has('needs_you'),
  };
}
