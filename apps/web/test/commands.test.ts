import { describe, expect, it } from '@jest/globals';
import { fitting } from '../src/conversation/commands.tsx';

const commands = ['compact', 'Continue', 'review'].map((name) => ({ name, description: '' }));
const names = (text: string) => fitting(commands, text).map(({ name }) => name);

describe('the commands that match the text', () => {
  it('are all after a slash, and the matching ones after more letters', () => {
    expect(names('/')).toEqual(['compact', 'Continue', 'review']);
    expect(names('/Co')).toEqual(['compact', 'Continue']);
    expect(names('/rev')).toEqual(['review']);
  });

  it('appear only for a slash followed by the beginning of a name', () => {
    for (const text of ['', 'compact', ' /co', '/compact ', '/compact now', '/co\n', '/nothing'])
      expect(names(text)).toEqual([]);
  });

  it('are at most eight', () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `c${index}`, description: '' }));
    expect(fitting(many, '/c')).toHaveLength(8);
  });
});
