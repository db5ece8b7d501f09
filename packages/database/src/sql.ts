/**
 * The tag of statements. It sends a value apart from the text, and inserts a piece made by the same tag. Only `sql.raw`
 * adds other text: constants of this code.
 */

/** A statement, or a piece of one, with its values. */
export class Sql {
  readonly values: readonly unknown[];
  readonly #strings: readonly string[];
  #text: string | undefined;

  constructor(strings: readonly string[], given: readonly unknown[] = []) {
    const flat = [strings[0] ?? ''];
    const values: unknown[] = [];
    given.forEach((value, n) => {
      const behind = strings[n + 1] ?? '';
      if (value instanceof Sql) {
        const [first = '', ...others] = value.#strings;
        flat.push(`${flat.pop()}${first}`, ...others);
        flat.push(`${flat.pop()}${behind}`);
        values.push(...value.values);
      } else {
        values.push(value);
        flat.push(behind);
      }
    });
    this.#strings = flat;
    this.values = values;
  }

  /** The text for PostgreSQL: the places of the values are `$1`, `$2`, … */
  get text(): string {
    return (this.#text ??= this.#strings.reduce((before, part, n) => `${before}$${n}${part}`));
  }

  /** The text with its values written out, for the body of a function. Only constants of this code are in such a text. */
  get inline(): string {
    return this.#strings.reduce((before, part, n) => `${before}${literal(this.values[n - 1])}${part}`);
  }
}

function literal(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  throw new TypeError('a function can contain texts, numbers and null');
}

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return new Sql(strings, values);
}

sql.empty = new Sql(['']);
/** Never with a text from outside this code. */
sql.raw = (text: string) => new Sql([text]);
/**
 * A `text[]` for `= ANY(…)` and `unnest(…)`, which every plan takes for ten texts, so that PostgreSQL keeps one. The number of texts of a plain
 * value counts in its plan: PostgreSQL makes a new one for each call that has fewer, and planning a session takes longer than reading it.
 * A frozen list is encoded once.
 */
sql.texts = (texts: readonly string[]) =>
  new Sql(['(SELECT ', '::text[])::text[]'], [Object.isFrozen(texts) ? arrayText(texts) : [...texts]]);

/** Frozen lists as PostgreSQL reads them. Each sweep of thousands of devices sends the same lists. */
const arrayTexts = new WeakMap<readonly string[], string>();

function arrayText(texts: readonly string[]): string {
  let text = arrayTexts.get(texts);
  if (text === undefined) {
    text = `{${texts.map((one) => `"${one.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
    arrayTexts.set(texts, text);
  }
  return text;
}

/** The values or pieces, with commas between them, or with `separator`. There must be one. */
sql.join = (pieces: readonly unknown[], separator = ', ') =>
  new Sql(['', ...Array<string>(pieces.length - 1).fill(separator), ''], pieces);
