/** Text that no honest peer sends. Nothing throws, nothing hangs, nothing leaks into other objects. */
import { describe, expect, it } from '@jest/globals';
import {
  decodeAppFrame,
  decodeCommand,
  decodeControl,
  decodeDaemonFrame,
  decodeRelayFrame,
  decodeReply,
  parseJson,
} from '../src/index.ts';

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

const malformed: [string, string][] = [
  ['nothing', ''],
  ['a space', ' '],
  ['a word', 'ping'],
  ['half an object', '{"type":"ping"'],
  ['two objects', '{"type":"pong"}{"type":"pong"}'],
  ['an array', '[{"type":"pong"}]'],
  ['a number', '7'],
  ['null', 'null'],
  ['true', 'true'],
  ['a string', '"{\\"type\\":\\"pong\\"}"'],
  ['an object without a type', '{}'],
  ['a type that is a number', '{"type":1}'],
  ['a type that is null', '{"type":null}'],
  ['a type that is an array', '{"type":["pong"]}'],
  ['a type behind __proto__', '{"__proto__":{"type":"pong"}}'],
  ['a raw U+0000', '{"type":"pong\u0000"}'],
  ['a byte order mark', '\uFEFF{"type":"pong"}'],
  ['a comment', '/**/{"type":"pong"}'],
  ['an escape that removal would complete', '{"type":"\\u00\\u000070ong"}'],
  ['100,000 arrays', nested('[', ']', 100_000)],
  ['100,000 arrays that never end', '['.repeat(100_000)],
];

describe('malformed', () => {
  it.each(malformed)('is %s, for relay and daemon', (_what, text) => {
    expect(decodeDaemonFrame(text).kind).toBe('malformed');
    expect(decodeRelayFrame(text).kind).toBe('malformed');
  });

  it.each(malformed)('%s is ignored from apps and instances', (_what, text) => {
    for (const decode of [decodeAppFrame, decodeCommand, decodeReply, decodeControl]) {
      expect(decode(text)).toBeUndefined();
    }
  });
});

describe('100,000 levels of nesting', () => {
  const deep = nested('[', ']', 100_000);

  it('in a known field are a wrong field', () => {
    expect(decodeDaemonFrame(`{"type":"status","running_tasks":${deep}}`)).toEqual({
      kind: 'invalid',
      reason: 'status: "running_tasks.0" must be string',
    });
  });

  it.each(['', ',"b":"\\u0000"', ',"b":"\\ud800"'])(
    'in an unknown field pass, whatever stands beside them: %j',
    (more) => {
      expect(decodeDaemonFrame(`{"type":"pong","a":${deep}${more}}`).kind).toBe('frame');
    },
  );

  it('in a report entry do not reach the entries beside it', () => {
    const decoded = decodeDaemonFrame(
      `{"type":"report_sessions","sessions":[${deep},{"session_id":"good","x":${deep}},{"id":${deep}}]}`,
    );
    expect(decoded.kind === 'frame' && decoded.dropped).toHaveLength(2);
    expect(decoded).toHaveProperty('frame.sessions.length', 1);
  });
});

describe('names that objects inherit', () => {
  it('pollute no prototype', () => {
    const texts = [
      '{"type":"pong","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
      '{"type":"report_sessions","sessions":[{"session_id":"a","__proto__":{"polluted":true}},{"id":"b","__proto__":{"polluted":true}}]}',
      '{"type":"event","event_type":"OUTPUT","output":"o","__proto__":{"polluted":true}}',
      '{"type":"pong","\\u0000__proto__":{"polluted":true}}',
    ];
    for (const text of texts) expect(decodeDaemonFrame(text).kind).toBe('frame');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('do not replace a missing field', () => {
    expect(decodeDaemonFrame('{"type":"status","__proto__":{"running_tasks":[]}}')).toEqual({
      kind: 'invalid',
      reason: 'status: "running_tasks" is required',
    });
    const entry = decodeDaemonFrame('{"type":"report_sessions","sessions":[{"id":"b","__proto__":{"title":7}}]}');
    expect(entry.kind === 'frame' && entry.dropped).toEqual([]);
  });
});

describe('numbers', () => {
  it.each(['1e400', '-1', '1.5', '2147483648', '99999999999999999999999999', '1e30'])(
    '%s is no message count',
    (number) => {
      expect(decodeDaemonFrame(`{"type":"session_activity","session_id":"n","message_count":${number}}`)).toMatchObject(
        {
          kind: 'invalid',
          reason: expect.stringContaining('"message_count"'),
        },
      );
    },
  );

  it.each(['0', '2147483647', '3.0', '-0'])('%s is one', (number) => {
    expect(decodeDaemonFrame(`{"type":"session_activity","session_id":"n","message_count":${number}}`).kind).toBe(
      'frame',
    );
  });
});

describe('values that PostgreSQL cannot store', () => {
  it('U+0000 is removed from every text, names included', () => {
    expect(parseJson('{"a\\u0000b":["x\\u0000\\u0000y",{"c":"\\u0000"}]}')).toEqual({ ab: ['xy', { c: '' }] });
  });

  it('a backslash before u0000 is a backslash', () => {
    expect(parseJson('{"a":"\\\\u0000 \\\\\\u0000 \\"\\\\u0000"}')).toEqual({ a: '\\u0000 \\ "\\u0000' });
  });

  it('half of a surrogate pair becomes U+FFFD, a whole pair stays', () => {
    expect(parseJson('{"a":"\\ud83d\\ude00 \\uD83D \\ude00 \\ude00\\ud83d \\ud83d\\ud83d\\ude00"}')).toEqual({
      a: '😀 \ufffd \ufffd \ufffd\ufffd \ufffd😀',
    });
  });

  it('half of a pair behind an escaped backslash is seen', () => {
    expect(parseJson('{"a":"\\\\ud83d\\ude00"}')).toEqual({ a: '\\ud83d\ufffd' });
  });

  it('taking U+0000 out joins no two halves', () => {
    expect(parseJson('{"a":"\\ud83d\\u0000\\ude00"}')).toEqual({ a: '\ufffd\ufffd' });
  });

  it('an id that consisted of U+0000 is a missing id', () => {
    expect(decodeDaemonFrame('{"type":"session_activity","session_id":"\\u0000"}')).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('"session_id"'),
    });
  });

  it.each(['{"a":"\\u00\\u000000"}', '{"a":1\\u0000}', '{"a":"\\u000"}'])('%s stays a syntax error', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
