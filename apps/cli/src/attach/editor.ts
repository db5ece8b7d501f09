/** The input line: turns keyboard bytes into a text with a cursor, and into keys with a meaning. Pure. */

type Key =
  | { kind: 'enter' }
  | { kind: 'interrupt' }
  | { kind: 'leave' }
  | { kind: 'complete' }
  /** A digit on an empty line. */
  | { kind: 'digit'; digit: number };

export interface Editor {
  /** Takes keyboard bytes as text. Returns the keys in order; all other input edits the line. */
  take(input: string): Key[];
  text(): string;
  /** Characters before the cursor. */
  cursor(): number;
  set(text: string): void;
}

const maxCharacters = 256 * 1024;
const [pasteBegin, pasteEnd] = ['\u001b[200~', '\u001b[201~'];
/** Cursor keys, as terminals send them. */
const sequence = /^\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Z]|\r|\n)/;

export function createEditor(): Editor {
  let characters: string[] = [];
  let at = 0;
  let isPaste = false;
  let rest = '';

  const insert = (text: string) => {
    const more = [...text.replace(/\r\n?/g, '\n')].filter((one) => one === '\n' || one === '\t' || one >= ' ');
    if (characters.length + more.length > maxCharacters) return;
    characters.splice(at, 0, ...more);
    at += more.length;
  };
  const remove = (from: number, to: number) => {
    characters.splice(from, to - from);
    at = from;
  };
  const wordStart = () => {
    let place = at;
    while (place > 0 && characters[place - 1] === ' ') place--;
    while (place > 0 && characters[place - 1] !== ' ') place--;
    return place;
  };

  const moves: Readonly<Record<string, () => void>> = {
    '[D': () => (at = Math.max(0, at - 1)),
    '[C': () => (at = Math.min(characters.length, at + 1)),
    '[H': () => (at = 0),
    '[F': () => (at = characters.length),
    '[1~': () => (at = 0),
    '[4~': () => (at = characters.length),
    '[3~': () => characters.splice(at, 1),
    '\r': () => insert('\n'),
    '\n': () => insert('\n'),
  };
  const controls: Readonly<Record<string, () => Key | undefined>> = {
    '\r': () => ({ kind: 'enter' }),
    '\t': () => ({ kind: 'complete' }),
    '\u0003': () => ({ kind: 'interrupt' }),
    '\u0004': () => (characters.length === 0 ? { kind: 'leave' } : undefined),
    '\n': () => void insert('\n'),
    '\u007f': () => void remove(Math.max(0, at - 1), at),
    '\b': () => void remove(Math.max(0, at - 1), at),
    '\u0001': () => void (at = 0),
    '\u0005': () => void (at = characters.length),
    '\u0015': () => void remove(0, at),
    '\u0017': () => void remove(wordStart(), at),
  };

  const takeOne = (input: string): { length: number; key?: Key | undefined } => {
    if (isPaste) {
      const end = input.indexOf(pasteEnd);
      insert(end < 0 ? input : input.slice(0, end));
      isPaste = end < 0;
      return { length: end < 0 ? input.length : end + pasteEnd.length };
    }
    if (input.startsWith(pasteBegin)) {
      isPaste = true;
      return { length: pasteBegin.length };
    }
    const [special] = sequence.exec(input) ?? [];
    if (special !== undefined) {
      moves[special.slice(1)]?.();
      return { length: special.length };
    }
    const [character = ''] = input;
    const control = controls[character];
    if (control) return { length: character.length, key: control() };
    if (characters.length === 0 && /[1-9]/.test(character))
      return { length: 1, key: { kind: 'digit', digit: Number(character) } };
    insert(character);
    return { length: character.length };
  };

  return {
    take(input) {
      const keys: Key[] = [];
      let left = rest + input;
      rest = '';
      while (left !== '') {
        // A sequence can arrive in two pieces.
        if (!isPaste && left.length < 6 && left.startsWith('\u001b') && !sequence.test(left)) {
          rest = left.length > 1 ? left : '';
          break;
        }
        const { length, key } = takeOne(left);
        left = left.slice(length);
        if (key) keys.push(key);
      }
      return keys;
    },
    text: () => characters.join(''),
    cursor: () => at,
    set(text) {
      characters = [...text];
      at = characters.length;
    },
  };
}
