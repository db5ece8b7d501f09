/** Display names of machines, programs and addresses: people decide by them. */
import { describe, expect, it } from '@jest/globals';
import { RelayError } from '@relay/protocol';
import { requireShowable } from '../src/devices/names.ts';

const named = (code: number) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
const codes = [
  ...[0xe0001, 0x034f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x00ad, 0x061c, 0x180e, 0x180b, 0x200b, 0x200e],
  ...[0x202e, 0x2028, 0x2060, 0x2066, 0x206f, 0xfeff, 0xfff9, 0xe0020, 0xe007f, 0xe0100, 0xe0fff, 0x1d173, 0x1bca0],
  ...[0x17b4, 0x2065, 0xfff0, 0x0007, 0x009b, 0x200c, 0x200d, 0xfe0f, 0xfe00, 0xd800],
];

describe('a name', () => {
  it.each(codes.map((code) => [named(code), code] as const))(
    'S12: cannot contain %s, alone or among letters',
    (_name, code) => {
      const character = String.fromCodePoint(code);
      for (const name of [
        character,
        character.repeat(5),
        `lap${character}top`,
        `${character}laptop`,
        `laptop${character}`,
        `a ${character} b`,
      ])
        expect(() => requireShowable(name)).toThrow(RelayError);
    },
  );

  it.each([
    'laptop',
    'Büro 2',
    '仕事用',
    'сервер',
    'می‌خواهم',
    'क्‍ष',
    '👩‍💻 desk',
    '❤️ box',
    '🏳️‍🌈',
    '👨🏽‍💻',
    '2️⃣',
    'a-b_c.d (old)',
  ])('S12: can be %s', (name) => {
    expect(() => requireShowable(name)).not.toThrow();
  });
});
