/** The fields that requests with a message share, and the answers to them. */
import { Type, limits, maybe, text } from '../schema.ts';

export const boundedText = (description: string) => text(`${description}; at most 256 KiB of UTF-8`, { minLength: 1 });

export const queueTtlSeconds = maybe(
  Type.Integer({
    description: 'How long the message can wait for an offline device; 0 = not at all',
    minimum: 0,
    maximum: limits.queueTtlSeconds,
    default: 900,
  }),
);

export const imagesUnconfirmed = maybe(
  Type.Literal('unconfirmed', {
    description: 'The message has images, but the daemon of the device did not declare `images` and can ignore them',
  }),
);

/** When a message reaches the agent. */
export const deliveries = ['now', 'next'] as const;
