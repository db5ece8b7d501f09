/** Session ids: three parts, split on the first two colons only. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  agentTypePattern,
  formatSessionId,
  isNativeId,
  isPlaceholder,
  parseSessionId,
  placeholderNativeId,
} from '../src/index.ts';

const part = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((text) => !text.includes(':'));
const agentTypes = fc.stringMatching(new RegExp(agentTypePattern));
const nativeIds = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 256 }),
  fc
    .array(fc.constantFrom(':', '/', '::', 'a', '%2F', '..', ' '), { minLength: 1, maxLength: 100 })
    .map((all) => all.join('')),
);

describe('a session id', () => {
  it('is split on the first two colons only', () => {
    expect(parseSessionId('dev:agent:a:b/c::d')).toEqual({ deviceId: 'dev', agentType: 'agent', nativeId: 'a:b/c::d' });
  });

  it.each(['', ':', '::', ':::', 'a', 'a:b', 'a:b:', ':b:c', 'a::c', '::c'])('%j is invalid', (text) => {
    expect(parseSessionId(text)).toBeUndefined();
  });

  it('has a native id of at most 512 characters', () => {
    expect(parseSessionId(`d:a:${'n'.repeat(512)}`)?.nativeId).toHaveLength(512);
    expect(parseSessionId(`d:a:${'n'.repeat(513)}`)).toBeUndefined();
    expect(parseSessionId(`${'d'.repeat(600)}:a:n`)).toBeUndefined();
  });

  it('survives formatting and parsing', () => {
    fc.assert(
      fc.property(part, agentTypes, nativeIds, (deviceId, agentType, nativeId) => {
        const parts = { deviceId, agentType, nativeId };
        expect(parseSessionId(formatSessionId(parts))).toEqual(parts);
      }),
    );
  });

  it('survives parsing and formatting', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.array(fc.constantFrom(':', 'a', '/'), { maxLength: 12 })), (pieces) => {
        const text = typeof pieces === 'string' ? pieces : pieces.join('');
        const parts = parseSessionId(text);
        if (parts) expect(formatSessionId(parts)).toBe(text);
      }),
    );
  });
});

describe('a native id', () => {
  it('is a placeholder when it begins with PENDING-', () => {
    expect(isPlaceholder(placeholderNativeId('01KKNSR4J0JQ7D587X9M2RYZR0'))).toBe(true);
    expect(isPlaceholder('pending-1')).toBe(false);
    expect(isPlaceholder('x-PENDING-1')).toBe(false);
  });

  it('of a daemon is not empty, no placeholder and at most 512 characters', () => {
    expect(isNativeId('a:b/c')).toBe(true);
    expect(isNativeId('n'.repeat(512))).toBe(true);
    expect(isNativeId('n'.repeat(513))).toBe(false);
    expect(isNativeId('')).toBe(false);
    expect(isNativeId(placeholderNativeId('x'))).toBe(false);
  });
});
