/** What a person is told, by stable code: one sentence that says what to do. */
import type { Refusal } from './refusal.ts';

const sentences = new Map(
  Object.entries({
    OFFLINE: 'The relay cannot be reached. Check your connection, then try again.',
    TIMEOUT: 'The relay took too long to answer. Try again.',
    BAD_ANSWER: 'Something between you and the relay answered instead of it. Try again in a moment.',
    UNEXPECTED: 'Something went wrong on this page. Load it again.',
    NO_SIGN_IN: 'This relay has no sign-in of its own. Use the app that your operator gave you.',
    SIGN_IN_FAILED: 'The sign-in could not be finished. Load the page again.',

    INVALID_EMAIL_OR_PASSWORD: 'This e-mail address and password do not belong together. Check both and try again.',
    INVALID_EMAIL: 'This is not an e-mail address. Check it and try again.',
    INVALID_PASSWORD: 'The current password is not right. Try again.',
    PASSWORD_TOO_SHORT: 'The password is too short. Choose a longer one.',
    PASSWORD_TOO_COMMON: 'This password is among the first that anybody would try. Choose another one.',
    PASSWORD_TOO_LONG: 'The password is too long. Choose one of at most 128 characters.',
    USER_ALREADY_EXISTS: 'There is an account with this e-mail address already. Sign in instead.',
    USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'There is an account with this e-mail address already. Sign in instead.',
    INVALID_ORIGIN: 'You opened this page under an address that the relay does not know. Use its own address.',

    UNAUTHORIZED: 'You are not signed in. Sign in again.',
    INVALID_TOKEN: 'Your sign-in is not valid any more. Sign in again.',
    TOKEN_EXPIRED: 'Your sign-in has expired. Sign in again.',
    TOKEN_REVOKED: 'You were signed out. Sign in again.',
    INSUFFICIENT_SCOPE: 'You are not allowed to do this. Sign out and in again.',
    SIGN_IN_NOT_RECENT: 'You signed in more than 15 minutes ago. Enter your password, or sign in, again.',
    RATE_LIMITED: 'That was too often. Wait a minute, then try again.',
    INTERNAL_ERROR: 'The relay made a mistake. Try again; tell its operator if it stays.',
    PAYLOAD_TOO_LARGE: 'This is too large. A message may have 256 KiB, an image 5 MiB.',

    INVALID_IMAGE: 'One of the images is not what its name says. Take it away, or save it again as PNG or JPEG.',
    NOT_SUPPORTED_BY_DEVICE: 'The agent on this machine cannot take this. Send it without images.',

    SESSION_NOT_FOUND: 'There is no such session. It may have been removed.',
    DEVICE_NOT_FOUND: 'There is no such device. It may have been removed.',
    CODE_NOT_FOUND: 'No machine waits under this code. Check it, or start the registration again if it has expired.',
    CODE_ALREADY_USED: 'This code was used already. Start the registration again to get a new one.',
    DEVICE_OFFLINE: 'The machine is offline. Start its daemon, then try again.',
    DEVICE_TIMEOUT: 'The machine took too long to answer. Try again.',
    QUEUE_FULL: 'Too much already waits here. Let the agent answer first.',
    SESSION_NOT_RESOLVED: 'The agent never began this session. Start a new one.',
    PROMPT_ALREADY_ANSWERED: 'This question was answered already, on another device or page.',
    PROMPT_SUPERSEDED: 'This question is no longer open. Nothing was sent to the agent.',
    PROMPT_NOT_FOUND: 'This question is no longer open. Nothing was sent to the agent.',
    INVALID_ANSWER: 'This question needs one of its choices. Choose one above.',
    PROMPT_REFERENCE_REQUIRED: 'The agent has asked something meanwhile. Answer its question first.',
    NO_RUNNING_TASK: 'There is nothing to cancel any more.',
    IDEMPOTENCY_CONFLICT: 'This was sent before with another text. Send it again.',

    AGENT_ERROR: 'The agent failed and said why above.',
    DELIVERY_UNKNOWN:
      'The connection broke while your message was delivered: it may have run. Send it again if it did not.',
    TASK_LOST: 'The machine lost track of this task, so its outcome is unknown. Send your message again.',
    TASK_EXPIRED: 'The machine did not come online in time. Send your message again.',
    DEVICE_REMOVED: 'The machine was removed while your message waited.',
  }),
);

/** By code; else what the relay said, which is written for people too; else that it failed. */
export function sentenceFor({
  code,
  message,
  retryAfterSeconds,
}: Pick<Refusal, 'code' | 'message' | 'retryAfterSeconds'>): string {
  if (code === 'RATE_LIMITED' && retryAfterSeconds !== undefined)
    return `That was too often. Wait ${retryAfterSeconds} seconds, then try again.`;
  return sentences.get(code) ?? (message === '' ? 'That did not work. Try again.' : message);
}

export const taskSentence = (code: string): string =>
  sentences.get(code) ?? 'The task did not complete. Send your message again.';
