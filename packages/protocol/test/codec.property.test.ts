/** Decoding handles any input; decoding reverses encoding. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeAppFrame,
  decodeCommand,
  decodeControl,
  decodeDaemonFrame,
  decodeRelayFrame,
  decodeReply,
  decodeUserFrame,
  parseJson,
} from '../src/index.ts';
import { registry } from '../src/registry.ts';
import { arbitraryOf, storable, unknownFields } from './arbitrary.ts';
import { violations } from './violations.ts';

const kinds = ['frame', 'malformed', 'invalid', 'unknown'];
const decodeEverywhere = (text: string) => {
  expect(kinds).toContain(decodeDaemonFrame(text).kind);
  expect(kinds).toContain(decodeRelayFrame(text).kind);
  for (const decode of [decodeAppFrame, decodeCommand, decodeReply, decodeControl, decodeUserFrame]) decode(text);
};

const withDecoder = Object.entries(registry).filter(
  ([, { decode, schema }]) => decode !== undefined && schema.type === 'object',
);
const fieldNames = [
  ...new Set(withDecoder.flatMap(([, { schema }]) => Object.keys(schema.properties as Record<string, unknown>))),
];
const names = withDecoder.map(([name]) => name.slice(name.lastIndexOf('.') + 1));

describe('decoding', () => {
  it('never throws for arbitrary text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), decodeEverywhere));
  });

  it('never throws for arbitrary JSON', () => {
    fc.assert(fc.property(fc.json(), decodeEverywhere));
  });

  it('never throws for known names with arbitrary fields', () => {
    const frames = fc.record({
      type: fc.oneof(fc.constant('event'), fc.constantFrom(...names)),
      event_type: fc.constantFrom(...names),
      kind: fc.constantFrom(...names),
      v: fc.constantFrom(1, 2, '1'),
    });
    const fields = fc.dictionary(fc.constantFrom(...fieldNames, '__proto__', 'constructor'), fc.jsonValue());
    fc.assert(
      fc.property(frames, fields, (frame, more) => decodeEverywhere(JSON.stringify({ ...more, ...frame }))),
      { numRuns: 500 },
    );
  });

  it('never throws for text with any mixture of escapes', () => {
    const piece = fc.constantFrom(
      '\\',
      'u0000',
      '\\u0000',
      '\\ud83d',
      '\\ude00',
      '\\uD83D',
      '"',
      'u',
      '00',
      'a',
      '\\n',
    );
    const texts = fc.array(piece, { maxLength: 30 }).map((pieces) => `{"type":"pong","a":"${pieces.join('')}"}`);
    fc.assert(
      fc.property(texts, (text) => {
        const decoded = decodeDaemonFrame(text);
        // Removing characters does not turn other text into JSON.
        expect(decoded.kind).toBe(isJson(text) ? 'frame' : 'malformed');
        if (decoded.kind === 'frame') expect((decoded.frame as { a?: string }).a).not.toMatch(/[\0\ud800-\udfff]/u);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives back every encoded frame, unknown fields included', () => {
    const failures = violations(withDecoder, ({ schema, decode }, name) =>
      fc.assert(
        fc.property(arbitraryOf(schema) as fc.Arbitrary<object>, unknownFields, (frame, more) => {
          const grown = { ...frame, ...more };
          // An entry that looks like our placeholder is left out, which has its own test.
          fc.pre(name !== 'from-daemon.report_sessions' || !JSON.stringify(grown).includes('PENDING-'));
          // One of the two is required, which a schema alone cannot express.
          fc.pre(name !== 'from-daemon.report_slash_commands' || 'commands' in frame || 'sets' in frame);
          expect(decode?.(JSON.stringify(grown))).toEqual(grown);
        }),
        { numRuns: 60 },
      ),
    );
    expect(failures).toEqual([]);
  });
});

describe('parseJson', () => {
  it('is JSON.parse for everything that can be stored', () => {
    const values = fc.oneof(storable(), fc.array(storable()), fc.dictionary(storable(), storable()));
    fc.assert(
      fc.property(values, fc.boolean(), (value, escaped) => {
        const text = JSON.stringify(value);
        expect(parseJson(escaped ? asAscii(text) : text)).toEqual(JSON.parse(text));
      }),
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How programs write JSON that trust no encoding: every unit beyond ASCII as an escape. */
const asAscii = (json: string) =>
  json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
