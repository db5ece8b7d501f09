/**
 * The records that instances and scripts publish, one row per kind. A record is `<letter><length>,<length>…:<field><field>…`, and
 * a message is records one after another, so that a body passes as it is and a script can put records together without parsing them.
 * Lengths count UTF-16 units, as JavaScript does; fields that a script writes are ASCII, where bytes are the same.
 *
 * Two releases share the channels during a rollout: a letter keeps its fields, and a new kind gets a new letter.
 */

/** Every kind: its letter, then its fields. `id` is the user, where a record is about one. */
const kinds = {
  command: ['c', 'fence', 'deadline', 'id', 'from', 'device', 'correlation', 'body'],
  ack: ['k', 'id'],
  nack: ['j', 'id'],
  reply: ['r', 'correlation', 'body'],
  /** A long reply, which is kept as a value under `id`. */
  keptReply: ['s', 'correlation', 'id'],
  abandoned: ['x', 'correlation'],
  evicted: ['e', 'fence', 'device', 'connection'],
  probe: ['p', 'id'],
  control: ['t', 'body'],
  /** A history entry. */
  frame: ['f', 'offset', 'previous', 'id', 'body'],
  /** A history entry whose body is the next message of the channel, `bodyLength` long. */
  longFrame: ['F', 'offset', 'previous', 'id', 'bodyLength'],
  hotFrame: ['h', 'id', 'body'],
  /** A hot frame that did not pass the script: not to be delivered after `until` (Redis, ms since 1970). */
  longHotFrame: ['H', 'id', 'body', 'until'],
  /** The offset that the next frame follows. */
  top: ['i', 'offset', 'id'],
  /** Entries might be missing before the next frame. */
  brokenChain: ['g', 'id'],
} as const;

/** These fields are numbers, all others text. */
const numbers = ['fence', 'deadline', 'until', 'bodyLength'] as const;

type Kind = keyof typeof kinds;
type FieldOf<K extends Kind> = (typeof kinds)[K] extends readonly [string, ...infer Fields extends string[]]
  ? Fields[number]
  : never;
type ValueOf<Field> = Field extends (typeof numbers)[number] ? number : string;

/** A record of one of the kinds, or of these. */
export type WireRecord<K extends Kind = Kind> = {
  [Each in K]: { readonly kind: Each } & { readonly [Field in FieldOf<Each>]: ValueOf<Field> };
}[K];

/** Exported for scripts, which write records too. */
export const letterOf = Object.fromEntries(Object.entries(kinds).map(([kind, [letter]]) => [kind, letter])) as Readonly<
  Record<Kind, string>
>;

interface Row {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly isNumber: readonly boolean[];
}

const byLetter = new Map(
  Object.entries(kinds).map(([kind, [letter, ...fields]]): [string, Row] => {
    const isNumber = fields.map((field) => (numbers as readonly string[]).includes(field));
    return [letter, { kind, fields, isNumber }];
  }),
);

export function encodeRecord(record: WireRecord): string {
  const [letter, ...names] = kinds[record.kind];
  const { lengths, fields } = encodeFields(names.map((name) => String(record[name as keyof typeof record])));
  return `${letter}${lengths}:${fields}`;
}

/** The two parts of a record; a script can insert fields of its own between them. */
export function encodeFields(fields: readonly string[]): { lengths: string; fields: string } {
  return { lengths: fields.map((field) => field.length).join(','), fields: fields.join('') };
}

const colon = 58;
const comma = 44;
const zero = 48;

/** The longest header that is accepted: a letter and a handful of lengths. */
const maxHeader = 128;

/**
 * Calls `receive` for every record, in order. Skips unknown letters: a newer release might send them.
 * @throws TypeError for text that is not a series of records, after `receive` got the records before the error
 */
export function decodeRecords(text: string, receive: (record: WireRecord) => void): void {
  splitRecords(text, (letter, values) => {
    const row = byLetter.get(letter);
    if (!row) return;
    const { kind, fields, isNumber } = row;
    const record: Record<string, string | number> = { kind };
    for (let n = 0; n < fields.length; n++) record[fields[n]!] = isNumber[n] ? Number(values[n]) : (values[n] ?? '');
    receive(record as unknown as WireRecord);
  });
}

/** `<length>,<length>…:<field><field>…`, which a script keeps as it came. */
export function decodeFields(text: string): string[] {
  let found: string[] = [];
  splitRecords(` ${text}`, (_, fields) => (found = fields));
  return found;
}

function splitRecords(text: string, receive: (letter: string, fields: string[]) => void): void {
  let at = 0;
  while (at < text.length) {
    const letter = text[at]!;
    const lengths: number[] = [];
    let length = 0;
    let digits = 0;
    let next = at + 1;
    for (; ; next++) {
      const code = text.charCodeAt(next);
      if (code === colon || code === comma) {
        if (digits > 0) lengths.push(length);
        length = 0;
        digits = 0;
        if (code === colon) break;
        continue;
      }
      const digit = code - zero;
      if (!(digit >= 0 && digit <= 9) || next - at > maxHeader) throw new TypeError('a channel carried no record');
      length = length * 10 + digit;
      digits += 1;
    }
    at = next + 1;
    // The body of a long frame is not in its record: its length is there, and it comes as a message of its own.
    const apart = letter === letterOf.longFrame ? lengths.pop() : undefined;
    const fields: string[] = [];
    for (const size of lengths) fields.push(text.slice(at, (at += size)));
    if (at > text.length) throw new TypeError('a channel carried half a record');
    if (apart !== undefined) fields.push(String(apart));
    receive(letter, fields);
  }
}
