/** Whether and when an address is notified (rules, 14.11 to 14.15). Pure: the caller knows the person, the session and the time. */
import type { NotificationPlan, SplitAddress, SplitContext } from '@relay/database';
import { type NotificationCause, chosenCauseOf, defaultLevels } from '@relay/protocol';
import { quietEnd } from './quiet.ts';

/** How long the page that shows a session has to mark new text as read. */
const readingMs = 8000;
const stormMs = 60_000;
/** Per minute: of `done`, and of all other causes. */
const stormAfter = { done: 5, others: 30 };

/** A question is never held for a page: that it was seen does not mean that it was answered. */
export const mayWaitForReading = (cause: NotificationCause): boolean => cause === 'done' || cause === 'failed';

interface Moment {
  /** An app shows exactly this session. */
  shown: boolean;
  now: number;
}

/** The first rule that applies decides. */
export const verdictOf =
  (cause: NotificationCause, { shown, now }: Moment) =>
  (address: SplitAddress, context: SplitContext): NotificationPlan => {
    const suppressed = refusal(cause, address, context);
    if (suppressed !== undefined) return { suppressed, delayMs: 0 };
    const end = quietEnd(context.quietHours, cause, now);
    if (end !== undefined)
      return { heldFor: 'quiet_hours', reason: 'Held until your quiet hours end.', delayMs: end - now };
    if (
      address.recent >= (cause === 'done' ? stormAfter.done : stormAfter.others) &&
      chosenCauseOf(cause) !== undefined
    )
      return {
        heldFor: 'storm',
        reason: 'There were many in a minute, so the rest comes in one message.',
        delayMs: address.digestInMs ?? stormMs,
      };
    // A change of the account is news for every address at once.
    if (address.delaySeconds > 0 && chosenCauseOf(cause) !== undefined)
      return { heldFor: 'delay', reason: 'Sent if it is still open then.', delayMs: address.delaySeconds * 1000 };
    if (shown && mayWaitForReading(cause))
      return {
        heldFor: 'reading',
        reason: 'An app shows the session: sent unless it is read there.',
        delayMs: readingMs,
      };
    return { delayMs: 0 };
  };

function refusal(cause: NotificationCause, { levels }: SplitAddress, context: SplitContext): string | undefined {
  const chosen = chosenCauseOf(cause);
  if (chosen === undefined) return undefined;
  if (context.notify === 'off') return 'Off for this session.';
  const ofAddress = levels[chosen];
  if (ofAddress === 'off') return 'Off for this address.';
  if (context.notify === 'all') return undefined;
  const level = ofAddress ?? context.levels[chosen] ?? defaultLevels[chosen];
  if (level === 'off') return 'Off in your settings.';
  if (level === 'watched' && chosen !== 'device' && !context.watched) return 'The session is not watched.';
  return undefined;
}
