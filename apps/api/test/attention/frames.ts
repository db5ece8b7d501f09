/** Checks for every frame to apps: the protocol's schema, and an offset only on connections that asked for one. */
import { expect } from '@jest/globals';
import { type AttentionFrame, attentionFrames, validator } from '@relay/protocol';
import type { Frame } from '@relay/testing';

export function expectFrame<T extends AttentionFrame['type']>(
  type: T,
  frame: Frame,
  options: { offset?: boolean } = {},
): Extract<AttentionFrame, { type: T }> {
  expect(frame.type).toBe(type);
  expect(validator(attentionFrames[type])(frame)).toEqual({ ok: true, value: frame });
  if (options.offset) expect(frame.offset).toEqual(expect.stringMatching(/./));
  else expect(frame).not.toHaveProperty('offset');
  return frame as unknown as Extract<AttentionFrame, { type: T }>;
}
