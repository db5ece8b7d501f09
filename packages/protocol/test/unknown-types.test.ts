/** Unknown frame types and event types pass as `unknown`, to be counted; unknown kinds between instances are ignored. */
import { describe, expect, it } from '@jest/globals';
import {
  decodeCommand,
  decodeControl,
  decodeDaemonFrame,
  decodeRelayFrame,
  decodeReply,
  decodeUserFrame,
  encodeUserFrame,
} from '../src/index.ts';

describe('an unknown type', () => {
  it.each(['session_status', '', 'constructor', '__proto__', 'toString'])(
    'of a daemon, %j, is unknown and not an error',
    (type) => {
      expect(decodeDaemonFrame(JSON.stringify({ type, anything: 1 }))).toEqual({ kind: 'unknown', reason: type });
    },
  );

  it.each(['session_archive', 'hasOwnProperty'])('of a relay, %j, is unknown', (type) => {
    expect(decodeRelayFrame(JSON.stringify({ type }))).toEqual({ kind: 'unknown', reason: type });
  });

  it.each(['THINKING', '', 'valueOf', 'progress'])('of an event, %j, is unknown', (eventType) => {
    expect(decodeDaemonFrame(JSON.stringify({ type: 'event', event_type: eventType, task_id: 't' }))).toEqual({
      kind: 'unknown',
      reason: `event ${eventType}`,
    });
  });

  it('is cut in the reason, because a frame can be 16 MiB', () => {
    const long = 'x'.repeat(1_000_000);
    const frames = [{ type: long }, { type: 'event', event_type: long }];
    for (const frame of frames) {
      const decoded = decodeDaemonFrame(JSON.stringify(frame));
      expect(decoded.kind === 'unknown' && decoded.reason.length).toBeLessThan(100);
    }
  });
});

describe('a kind of a newer release', () => {
  it.each([decodeCommand, decodeReply, decodeControl])('is ignored by %p', (decode) => {
    expect(decode(JSON.stringify({ v: 1, kind: 'teleport' }))).toBeUndefined();
    expect(decode(JSON.stringify({ v: 1 }))).toBeUndefined();
    expect(decode('not json')).toBeUndefined();
  });

  it('is ignored when its version is another one', () => {
    expect(decodeCommand(JSON.stringify({ v: 2, kind: 'wake' }))).toBeUndefined();
    expect(decodeCommand(JSON.stringify({ v: 1, kind: 'wake' }))).toEqual({ v: 1, kind: 'wake' });
  });

  it('is ignored when it is a letter that user frames do not have', () => {
    expect(decodeUserFrame('z{"type":"resync"}')).toBeUndefined();
    expect(decodeUserFrame('')).toBeUndefined();
  });

  it.each(['f', 'x', 'p', 's', 'o'] as const)('leaves a user frame with the letter %s as it was', (kind) => {
    const text = '{"type":"resync"}';
    expect(decodeUserFrame(encodeUserFrame(kind, text))).toEqual({ kind, text });
  });
});
