/** A message for browsers: declarative, so that one without our worker shows it too (rules, 14.10 and 14.42). Pure. */
import type { ClaimedDelivery } from '@relay/database';
import { cutText } from '@relay/protocol';
import type { PushMessage } from './message.ts';

/** Lengths to try for an oversized body, in bytes: JSON can write a character in six. */
const shorter = [600, 300, 100, 0];

/**
 * At most `maxBytes`. An oversized body is cut, and then the message offers no answers: people can only agree to a complete text.
 */
export function declarativeOf(
  message: PushMessage,
  { id, sessionId }: Pick<ClaimedDelivery, 'id' | 'sessionId'>,
  tag: string,
  maxBytes: number,
): Buffer {
  const { cause, language: lang, title, link: navigate, promptId, answers = [], badge } = message;
  // Browsers differ in where they look for it.
  const count = badge === undefined ? {} : { app_badge: badge.count };
  const text = (body: string, offered: typeof answers) =>
    Buffer.from(
      JSON.stringify({
        web_push: 8030,
        ...count,
        notification: {
          ...{ title, body, lang, navigate, tag, ...count },
          data: {
            ...{ cause, sessionId, deliveryId: id },
            ...(badge === undefined ? {} : { version: badge.version }),
            ...(offered.length === 0
              ? {}
              : { promptId, tokens: Object.fromEntries(offered.map(({ action, token }) => [action, token])) }),
          },
          ...(offered.length === 0
            ? {}
            : {
                actions: offered.map((answer) => ({
                  ...{ action: answer.action, title: answer.title, navigate },
                  ...(answer.action === 'reply' ? { type: 'text' } : {}),
                })),
              }),
        },
      }),
    );
  const whole = text(message.body, answers);
  if (whole.length <= maxBytes) return whole;
  const rejecting = answers.filter(({ action }) => action === 'reject');
  const cut = [rejecting, []].flatMap((offered) => shorter.map((bytes) => text(cutText(message.body, bytes), offered)));
  return cut.find(({ length }) => length <= maxBytes) ?? text('', []);
}
