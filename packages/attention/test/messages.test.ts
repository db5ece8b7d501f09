import { describe, expect, it } from '@jest/globals';
import { Message, attentionFrames, limits, validator } from '@relay/protocol';
import fc from 'fast-check';
import { cut, message, newMessage, sessionUpdate } from '../src/index.ts';
import { session } from './session.ts';

describe('a text for apps', () => {
  it('that fits stays unchanged and unmarked', () => {
    for (const text of ['', 'hello', 'x'.repeat(limits.messageBytes), 'é'.repeat(limits.messageBytes / 2)])
      expect(cut(text)).toEqual({ content: text });
  });

  it('past 256 KiB is cut and marked', () => {
    expect(cut('x'.repeat(limits.messageBytes + 1))).toEqual({
      content: 'x'.repeat(limits.messageBytes),
      truncated: true,
    });
  });

  it('is never cut within a character', () => {
    const filler = fc.integer({ min: limits.messageBytes - 8, max: limits.messageBytes + 1 });
    fc.assert(
      fc.property(filler, fc.constantFrom('é', '€', '🐢'), (length, character) => {
        const text = 'x'.repeat(length) + character.repeat(4);
        const { content, truncated } = cut(text);
        expect(text.startsWith(content)).toBe(true);
        expect(content).not.toMatch(/\ufffd/);
        expect(Buffer.byteLength(content)).toBeLessThanOrEqual(limits.messageBytes);
        expect(truncated === true).toBe(content !== text);
        // As much of it as fits.
        const rest = [...text.slice(content.length)][0] ?? '';
        if (truncated) expect(Buffer.byteLength(content + rest)).toBeGreaterThan(limits.messageBytes);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a message', () => {
  const at = '2026-01-01T00:00:00.000Z';

  it('is one of the protocol, cut or not', () => {
    const isMessage = validator(Message);
    expect(message('u1', 'AGENT', 'hello', at)).toEqual({ uuid: 'u1', role: 'AGENT', content: 'hello', timestamp: at });
    for (const content of ['', 'hello', 'x'.repeat(limits.messageBytes + 1)])
      expect(isMessage(message('u1', 'USER', content, at))).toMatchObject({ ok: true });
    expect(message('u1', 'USER', 'x'.repeat(limits.messageBytes + 1), at).truncated).toBe(true);
  });

  it('travels in a new_message of the protocol', () => {
    const frame = newMessage('d:a:n', message('u1', 'SYSTEM', 'careful', at));
    expect(validator(attentionFrames.new_message)(frame)).toMatchObject({ ok: true });
    expect(frame).toMatchObject({ type: 'new_message', sessionId: 'd:a:n', message: { role: 'SYSTEM' } });
  });
});

describe('a session_update', () => {
  it('is one of the protocol, and names a former id only when there is one', () => {
    const isUpdate = validator(attentionFrames.session_update);
    expect(sessionUpdate(session)).toEqual({ type: 'session_update', session });
    expect(sessionUpdate(session, 'd:a:PENDING-1')).toEqual({
      type: 'session_update',
      session,
      previousId: 'd:a:PENDING-1',
    });
    for (const frame of [sessionUpdate(session), sessionUpdate(session, 'd:a:PENDING-1')])
      expect(isUpdate(frame)).toMatchObject({ ok: true });
  });
});
