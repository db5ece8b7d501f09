/** English texts: a form of an agent. */
import type { FieldProblem } from '@relay/protocol/plain';
import { capital, number, plural } from '../formats.ts';

interface Bounds {
  min?: number | undefined;
  max?: number | undefined;
}

const choices = (count: number) => plural(count, { one: '# choice', other: '# choices' });
const characters = (count: number) => plural(count, { one: '# character', other: '# characters' });

/** Empty when there are no bounds. */
function range({ min, max }: Bounds, counted: (count: number) => string): string {
  if (min !== undefined && min === max) return `exactly ${counted(min)}`;
  if (min !== undefined && max !== undefined) return `from ${number(min)} to ${counted(max)}`;
  if (min !== undefined) return `at least ${counted(min)}`;
  return max === undefined ? '' : `at most ${counted(max)}`;
}

export const words = {
  form: {
    of: (index: number, all: number) => `${number(index)} of ${number(all)}`,
    optional: 'Optional.',
    yes: 'Yes',
    no: 'No',
    send: 'Send answer',
    sending: 'Sending…',
    somethingElse: 'Something else',
    ownWords: 'Say it in your own words',
    /** Said before anything is wrong; empty when there is nothing to say. */
    bounds(type: string, bounds: Bounds): string {
      const numbers = type === 'number' || type === 'integer';
      if (type === 'choices') return `Choose ${range(bounds, choices) || 'any number'}.`;
      const found = numbers ? range(bounds, number) : type === 'text' ? range(bounds, characters) : '';
      return found === '' ? '' : `${capital(found)}.`;
    },
    problem({ kind, of }: FieldProblem, bounds: Bounds): string {
      switch (kind) {
        case 'missing':
          return 'Answer this to continue.';
        case 'boolean':
          return 'Choose yes or no.';
        case 'number':
          return 'Enter a number.';
        case 'integer':
          return 'Enter a whole number.';
        case 'choice':
        case 'choices':
          return 'Choose from the list.';
        case 'text':
          return 'Enter some text.';
        case 'range':
          if (of === 'a count') return `Choose ${range(bounds, choices)}.`;
          return of === 'a length' ? `Enter ${range(bounds, characters)}.` : `Enter a number ${range(bounds, number)}.`;
      }
    },
  },
};
