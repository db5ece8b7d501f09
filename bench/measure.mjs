// Numbers from samples. Medians, because the machine does other things too; the spread is always shown beside them.

/** The q-th quantile of numbers in any order; NaN without any. */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? NaN : sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

export const median = (values) => quantile(values, 0.5);

/**
 * The growth from one value to the next: the median between any two of them. V8 takes and returns memory by megabytes, which one weighing or
 * another catches.
 */
export function slope(values) {
  const between = values.flatMap((to, n) => values.slice(0, n).map((from, i) => (to - from) / (n - i)));
  return median(between);
}

/** The result of a suite: a table whose cells hold one number per round. */
export class Table {
  #rows = new Map();

  constructor(title) {
    this.title = title;
  }

  /**
   * Adds the number of one round. Rows and columns keep their order of insertion; columns name their unit. Ignores NaN,
   * such as the ratio to a system that does not take part.
   */
  add(row, column, value) {
    if (Number.isNaN(value)) return;
    const cells = this.#rows.get(row) ?? new Map();
    this.#rows.set(row, cells);
    cells.set(column, [...(cells.get(column) ?? []), value]);
  }

  /**
   * The ratios of the numbers of `one` to those of `other`, round by round. Both names are a column, or a row, or a
   * suffix of one, after a colon.
   * Undefined if the table does not contain them.
   */
  ratios(one, other) {
    const ratios = new Table(`${this.title}: ${one} / ${other}`);
    const divide = (row, column, values, others) =>
      others?.forEach((value, round) => ratios.add(row, column, values[round] / value));
    for (const [row, cells] of this.#rows) {
      const isOne = row === one || row.endsWith(`: ${one}`);
      const others = isOne ? this.#rows.get(`${row.slice(0, -one.length)}${other}`) : undefined;
      for (const [column, values] of cells) {
        if (column === one) divide(row, `${one} / ${other}`, values, cells.get(other));
        else divide(row, column, values, others?.get(column));
      }
    }
    return ratios.#rows.size === 0 ? undefined : ratios;
  }

  get isEmpty() {
    return this.#rows.size === 0;
  }

  /** `{ title, rows: { [row]: { [column]: { median, min, max, rounds } } } }` */
  toJSON() {
    const rows = [...this.#rows].map(([row, cells]) => [
      row,
      Object.fromEntries([...cells].map(([column, values]) => [column, summary(values)])),
    ]);
    return { title: this.title, rows: Object.fromEntries(rows) };
  }

  /** Markdown: the median of the rounds, followed by the lowest and the highest where there are several. */
  toString() {
    const columns = [...new Set([...this.#rows.values()].flatMap((cells) => [...cells.keys()]))];
    const lines = [
      ['', ...columns],
      ...[...this.#rows].map(([row, cells]) => [row, ...columns.map((c) => cell(cells.get(c)))]),
    ];
    const widths = lines[0].map((_, column) => Math.max(3, ...lines.map((line) => line[column].length)));
    const text = ([first, ...rest]) => [
      first.padEnd(widths[0]),
      ...rest.map((value, i) => value.padStart(widths[i + 1])),
    ];
    const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
    const [head, ...body] = lines.map(text);
    return [`### ${this.title}`, '', ...[head, rule, ...body].map((line) => `| ${line.join(' | ')} |`)].join('\n');
  }
}

/** One number per round → the median of the rounds, the lowest and the highest. */
function summary(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), rounds: values.length };
}

function cell(values) {
  if (values === undefined) return '';
  const { median, min, max, rounds } = summary(values);
  if (rounds === 1) return shown(median);
  return `${shown(median)} (${shown(min)}–${shown(max)})`;
}

/** Three digits are more than such a machine gives. */
function shown(value) {
  if (!Number.isFinite(value)) return '?';
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(size >= 1 ? 2 : 3);
}
