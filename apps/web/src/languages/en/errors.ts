/** English: what went wrong, by stable code: one sentence that says what to do. */
import { plural } from '../formats.ts';

export const words = {
  errors: {
    byCode: {
      OFFLINE: 'Can’t reach Relay. Check your connection, then try again.',
      TIMEOUT: 'Relay took too long to answer. Try again.',
      BAD_ANSWER: 'A proxy or sign-in page is in the way. Reload this page.',
      UNEXPECTED: 'Something went wrong on this page. Reload it.',
      NO_SIGN_IN: 'This relay has no sign-in page. Use the app you were given.',
      SIGN_IN_FAILED: 'Sign-in didn’t finish. Reload this page.',

      INVALID_EMAIL_OR_PASSWORD: 'Wrong email or password.',
      ACCOUNT_DISABLED: 'This account is disabled. Ask the operator of this relay.',
      INVALID_CODE:
        'This code is wrong. Enter the one the app shows now, and check your phone’s clock if it’s refused again.',
      INVALID_BACKUP_CODE: 'This recovery code is wrong or was used before.',
      ONE_TIME_CODE_USED: 'This code was used before. Wait until the app shows the next one.',
      INVALID_TWO_FACTOR_COOKIE: 'This sign-in has waited too long. Start again with your password.',
      TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'Too many wrong codes. Start again with your password.',
      ACCOUNT_TEMPORARILY_LOCKED: 'Too many wrong codes in a row. Try again in 15 minutes.',
      TOTP_ALREADY_ENABLED: 'The second step is on already. Reload this page.',
      SECOND_FACTOR_UNREADABLE:
        'This relay can’t check codes of this account. Ask its operator to reset your second step.',
      SECOND_FACTOR_REQUIRED: 'The password was right. The second step is needed.',
      INVALID_EMAIL: 'That isn’t an email address. Check it and try again.',
      INVALID_PASSWORD: 'The current password is wrong. Try again.',
      PASSWORD_TOO_SHORT: 'The password is too short. Choose a longer one.',
      PASSWORD_TOO_COMMON: 'This password is too common. Choose another one.',
      PASSWORD_TOO_LONG: 'The password is too long. 128 characters at most.',
      USER_ALREADY_EXISTS: 'An account with this email already exists. Sign in instead.',
      USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'An account with this email already exists. Sign in instead.',
      INVALID_ORIGIN: 'This address isn’t the relay’s own. Open it at its own address.',

      UNAUTHORIZED: 'You’re not signed in. Sign in again.',
      INVALID_TOKEN: 'Your sign-in is no longer valid. Sign in again.',
      TOKEN_EXPIRED: 'Your sign-in has expired. Sign in again.',
      TOKEN_REVOKED: 'You were signed out. Sign in again.',
      INSUFFICIENT_SCOPE: 'You can’t do this with this sign-in. Sign out and in again.',
      SIGN_IN_NOT_RECENT: 'You signed in more than 15 minutes ago. Enter your password, or sign in, again.',
      RATE_LIMITED: 'Too many tries. Try again in a minute.',
      INTERNAL_ERROR: 'Something went wrong on the server. Try again.',
      PAYLOAD_TOO_LARGE: 'Too large. Messages can be 256 KB, images 5 MB.',

      INVALID_IMAGE: 'One of the images isn’t valid. Remove it or save it as PNG.',
      AGENT_NOT_OFFERED: 'This machine no longer offers that agent. Choose another one.',
      NOT_SUPPORTED_BY_DEVICE: 'The agent on this machine can’t take images. Send it without them.',

      SESSION_NOT_FOUND: 'Session not found. It may have been deleted.',
      DEVICE_NOT_FOUND: 'Machine not found. It may have been removed.',
      ADDRESS_NOT_ALLOWED: 'Relay can’t notify this address. It must be https and reachable from the internet.',
      SUBSCRIPTION_NOT_FOUND: 'This address was removed.',
      SUBSCRIPTION_TAKEN: 'This browser notifies another account. Reset its notifications, then try again.',
      TOO_MANY_KEYS: 'You have 20 keys. Revoke one first.',
      TOO_MANY_SUBSCRIPTIONS: 'You have 20 addresses. Remove one first.',
      KIND_NOT_CONFIGURED: 'This relay can’t notify in this way.',
      ITEM_NOT_FOUND: 'This no longer waits for you.',
      ITEM_NEEDS_ANSWER: 'This ends when it is answered, or when the machine is back.',
      CODE_NOT_FOUND:
        'No machine is waiting with this code. Check it, or start again in the terminal if it has expired.',
      CODE_ALREADY_USED: 'This code has already been used. Start again in the terminal to get a new one.',
      DEVICE_OFFLINE: 'The machine is offline. Start it, then try again.',
      DEVICE_TIMEOUT: 'The machine took too long to answer. Try again.',
      QUEUE_FULL: 'The queue is full. Remove something or wait.',
      SESSION_NOT_RESOLVED: 'The agent never started this session. Start a new one.',
      PROMPT_ALREADY_ANSWERED: 'Already answered.',
      PROMPT_SUPERSEDED: 'This question is no longer open. Nothing was sent to the agent.',
      PROMPT_NOT_FOUND: 'This question is no longer open. Nothing was sent to the agent.',
      INVALID_ANSWER: 'This question needs one of its choices. Choose one above.',
      PROMPT_REFERENCE_REQUIRED: 'The agent has asked something. Answer its question first.',
      NO_RUNNING_TASK: 'There is nothing left to stop.',
      IDEMPOTENCY_CONFLICT: 'This wasn’t sent. Send it again.',

      AGENT_ERROR: 'The agent stopped with an error.',
      DELIVERY_UNKNOWN: 'Connection lost while sending. It may have started. Check above before you send again.',
      TASK_LOST: 'The machine lost track of this work. We can’t tell if it finished.',
      TASK_EXPIRED: 'The machine didn’t come online in time, so this wasn’t sent. Send it again.',
      DEVICE_REMOVED: 'The machine was removed while your message waited.',
    },
    tooOften: (seconds: number) =>
      plural(seconds, {
        one: 'Too many tries. Try again in # second.',
        other: 'Too many tries. Try again in # seconds.',
      }),
    unknown: 'That didn’t work. Try again.',
    unknownTask: 'This didn’t complete. Send your message again.',
  },
};
