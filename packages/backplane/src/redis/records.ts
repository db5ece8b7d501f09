/**
 * How text travels in a channel: records one after another, `<kind><length>,<length>…:<field><field>…`, so that a body passes
 * as it is and a script can put records together without understanding them. Lengths count UTF-16 units, as JavaScript does;
 * fields that a script writes are ASCII, where bytes are the same.
 */

/** The two parts of a record between which a script may put fields of its own. */
export interface Part {
  /** `<length>,<length>…` */
  readonly lengths: string;
  readonly fields: string;
}

export function part(...fields: readonly string[]): Part {
  return { lengths: fields.map((field) => field.length).join(','), fields: fields.join('') };
}

export function record(kind: string, ...fields: readonly string[]): string {
  const { lengths, fields: text } = part(...fields);
  return `${kind}${lengths}:${text}`;
}

const colon = 58;
const comma = 44;
const zero = 48;

/** Longest header that is believed: a kind and a handful of lengths. */
const maxHeader = 128;

/**
 * Calls `hear` for every record, in order. Unknown kinds are for `hear` to ignore: a newer instance may send them.
 * @throws TypeError for text that is not made of records; what came before was heard
 */
export function readRecords(text: string, hear: (kind: string, fields: readonly string[]) => void): void {
  let at = 0;
  while (at < text.length) {
    const kind = text[at]!;
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
    const fields: string[] = [];
    for (const size of lengths) fields.push(text.slice(at, (at += size)));
    // A long body is not in the record that announces it: its length is there, and it comes alone.
    if (at > text.length && kind !== 'F') throw new TypeError('a channel carried half a record');
    hear(kind, fields);
  }
}
