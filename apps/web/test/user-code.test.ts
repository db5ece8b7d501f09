import { describe, expect, it } from '@jest/globals';
import { isWhole, shownCode } from '../src/ui/user-code.ts';

describe('a code of a machine', () => {
  it.each(['BCDF-GHJK', 'bcdfghjk', ' bcdf ghjk ', 'bcdf–ghjk', 'B C D F - G H J K', 'ＢＣＤＦ-ＧＨＪＫ'])(
    'is BCDF-GHJK when a person types %p',
    (typed) => {
      expect(shownCode(typed)).toBe('BCDF-GHJK');
      expect(isWhole(typed)).toBe(true);
    },
  );

  it.each(['', 'BCDF', 'BCDF-GHJ'])('is incomplete when a person types %p', (typed) => {
    expect(isWhole(typed)).toBe(false);
  });
});
