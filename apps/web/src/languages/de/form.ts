/** German texts: a form of an agent. */
import type { words as english } from '../en/form.ts';
import { capital, number, plural } from '../formats.ts';

interface Bounds {
  min?: number | undefined;
  max?: number | undefined;
}

const choices = (count: number) => plural(count, { one: '# Antwort', other: '# Antworten' });
const characters = (count: number) => `${number(count)} Zeichen`;

/** Empty when there are no bounds. */
function range({ min, max }: Bounds, counted: (count: number) => string): string {
  if (min !== undefined && min === max) return `genau ${counted(min)}`;
  if (min !== undefined && max !== undefined) return `${number(min)} bis ${counted(max)}`;
  if (min !== undefined) return `mindestens ${counted(min)}`;
  return max === undefined ? '' : `höchstens ${counted(max)}`;
}

export const words: typeof english = {
  form: {
    of: (index, all) => `${number(index)} von ${number(all)}`,
    optional: 'Freiwillig.',
    yes: 'Ja',
    no: 'Nein',
    send: 'Antwort senden',
    sending: 'Wird gesendet…',
    somethingElse: 'Etwas anderes',
    ownWords: 'Sag es in eigenen Worten',
    bounds(type, bounds) {
      const numbers = type === 'number' || type === 'integer';
      if (type === 'choices') return `Wähle ${range(bounds, choices) || 'beliebig viele'}.`;
      const found = numbers ? range(bounds, number) : type === 'text' ? range(bounds, characters) : '';
      return found === '' ? '' : `${capital(found)}.`;
    },
    problem({ kind, of }, bounds) {
      switch (kind) {
        case 'missing':
          return 'Beantworte das, um weiterzugehen.';
        case 'boolean':
          return 'Wähle Ja oder Nein.';
        case 'number':
          return 'Gib eine Zahl ein.';
        case 'integer':
          return 'Gib eine ganze Zahl ein.';
        case 'choice':
        case 'choices':
          return 'Wähle aus der Liste.';
        case 'text':
          return 'Gib einen Text ein.';
        case 'range':
          if (of === 'a count') return `Wähle ${range(bounds, choices)}.`;
          return of === 'a length'
            ? `Gib ${range(bounds, characters)} ein.`
            : `Gib eine Zahl ein: ${range(bounds, number)}.`;
      }
    },
  },
};
