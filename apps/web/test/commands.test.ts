import { describe, expect, it } from '@jest/globals';
import { fitting } from '../src/conversation/fitting-commands.ts';

const commands = ['compact', 'Continue', 'review'].map((name) => ({ name, description: '' }));
const names = (text: string) => fitting(commands, text).map(({ name }) => name);

describe('the commands that fit what is written', () => {
  it('are all of them after a slash, and those that begin so after more', () => {
    expect(names('/')).toEqual(['compact', 'Continue', 'review']);
    expect(names('/Co')).toEqual(['compact', 'Continue']);
    expect(names('/rev')).toEqual(['review']);
  });

  it('appear only for a text that is a slash and the beginning of a name', () => {
    for (const text of ['', 'compact', ' /co', '/compact ', '/compact now', '/co\n', '/nothing'])
      expect(names(text)).toEqual([]);
  });

  it('are never more than a person can look over', () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `c${index}`, description: '' }));
    expect(fitting(many, '/c')).toHaveLength(8);
  });
});
