// The part of PromQL that the alerts of k8s/ use: text → tree → value at a moment. It refuses everything else.
// Rates assume evenly scraped series. The cases of alerts.cases.yaml give the same results with promtool 2.42.

const tokens =
  /\s+|#[^\n]*|(?<number>\d+(?:\.\d+)?(?![\w.]))|(?<duration>(?:\d+(?:ms|[smhdw]))+)|(?<word>[a-zA-Z_:][\w:]*)|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<sign>=~|!~|!=|==|>=|<=|[-+*/(){}[\],=<>])/gy;

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
export const durationMs = (text) =>
  [...text.matchAll(/(\d+)(ms|[smhdw])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * units[unit], 0);

const aggregations = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  count: (values) => values.length,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
};
const arithmetic = { '*': (a, b) => a * b, '/': (a, b) => a / b, '+': (a, b) => a + b, '-': (a, b) => a - b };
const comparisons = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};
/** Loosest first. */
const levels = [['or'], ['and', 'unless'], Object.keys(comparisons), ['+', '-'], ['*', '/']];

function tokenize(text) {
  const found = [];
  tokens.lastIndex = 0;
  while (tokens.lastIndex < text.length) {
    const at = tokens.lastIndex;
    const match = tokens.exec(text);
    if (!match) throw new SyntaxError(`not understood from here: ${text.slice(at, at + 30)}`);
    const [[kind, value] = []] = Object.entries(match.groups).filter(([, group]) => group !== undefined);
    if (kind) found.push({ kind, value });
  }
  return found;
}

/** @throws SyntaxError for text outside this part of the language */
export function parseQuery(text) {
  const left = tokenize(text);
  const peek = () => left[0]?.value;
  const next = (expected) => {
    const token = left.shift();
    if (!token || (expected !== undefined && token.value !== expected))
      throw new SyntaxError(`${expected ?? 'more'} expected, ${token?.value ?? 'the end'} found: ${text}`);
    return token;
  };
  const list = (read, open = '(', close = ')') => {
    const items = [];
    next(open);
    while (peek() !== close) {
      items.push(read());
      if (peek() !== close) next(',');
    }
    next(close);
    return items;
  };
  const labels = () => list(() => next().value);
  const matcher = () => ({
    label: next().value,
    sign: next().value,
    value: JSON.parse(next().value.replace(/^'|'$/g, '"')),
  });
  const grouping = () =>
    peek() === 'by' || peek() === 'without' ? { how: next().value, labels: labels() } : undefined;

  const selector = (name) => {
    const matchers = peek() === '{' ? list(matcher, '{', '}') : [];
    let rangeMs;
    if (peek() === '[') {
      next('[');
      rangeMs = durationMs(next().value);
      next(']');
    }
    let offsetMs = 0;
    if (peek() === 'offset') {
      next();
      offsetMs = durationMs(next().value);
    }
    return { kind: rangeMs === undefined ? 'instant' : 'range', name, matchers, rangeMs, offsetMs };
  };
  const primary = () => {
    if (peek() === '(') {
      next('(');
      const inner = binary(0);
      next(')');
      return inner;
    }
    const token = next();
    if (token.kind === 'number') return { kind: 'number', value: Number(token.value) };
    if (token.kind === 'string') return { kind: 'string', value: JSON.parse(token.value.replace(/^'|'$/g, '"')) };
    if (token.kind !== 'word') throw new SyntaxError(`a value expected, ${token.value} found: ${text}`);
    if (token.value in aggregations) {
      const before = grouping();
      const [of] = list(() => binary(0));
      return { kind: 'aggregation', name: token.value, of, by: before ?? grouping() };
    }
    if (peek() === '(') return { kind: 'call', name: token.value, args: list(() => binary(0)) };
    return selector(token.value);
  };
  const binary = (level) => {
    if (level === levels.length) return primary();
    let tree = binary(level + 1);
    while (levels[level].includes(peek())) {
      const sign = next().value;
      const on = peek() === 'on' ? (next(), labels()) : undefined;
      const take = peek() === 'group_left' ? (next(), labels()) : undefined;
      tree = { kind: 'binary', sign, on, take, left: tree, right: binary(level + 1) };
    }
    return tree;
  };
  const tree = binary(0);
  if (left.length > 0) throw new SyntaxError(`${peek()} is too much: ${text}`);
  return tree;
}

/** As long as Prometheus believes in the last sample. */
const lookbackMs = 300_000;
const keyOf = (labels) => JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
const pick = (labels, names) => Object.fromEntries(Object.entries(labels).filter(([name]) => names.includes(name)));
const drop = (labels, names) => Object.fromEntries(Object.entries(labels).filter(([name]) => !names.includes(name)));
const unnamed = (labels) => drop(labels, ['__name__']);

function matches(labels, { label, sign, value }) {
  const is = labels[label] ?? '';
  if (sign === '=') return is === value;
  if (sign === '!=') return is !== value;
  return new RegExp(`^(?:${value})$`).test(is) === (sign === '=~');
}

/** The increase per second, resets of the counter included. */
function rate(points) {
  if (points.length < 2) return undefined;
  let grown = 0;
  for (let n = 1; n < points.length; n += 1)
    grown += points[n].value >= points[n - 1].value ? points[n].value - points[n - 1].value : points[n].value;
  return (grown * 1000) / (points.at(-1).atMs - points[0].atMs);
}

function quantile(share, buckets) {
  const sorted = buckets
    .map(({ labels, value }) => ({ upTo: labels.le === '+Inf' ? Infinity : Number(labels.le), value }))
    .sort((a, b) => a.upTo - b.upTo);
  const all = sorted.at(-1)?.value ?? 0;
  if (!(all > 0)) return NaN;
  const rank = share * all;
  const at = sorted.findIndex(({ value }) => value >= rank);
  if (at === sorted.length - 1) return sorted[at - 1]?.upTo ?? NaN;
  const below = at === 0 ? { upTo: 0, value: 0 } : sorted[at - 1];
  const { upTo, value } = sorted[at];
  return below.upTo + ((upTo - below.upTo) * (rank - below.value)) / (value - below.value);
}

/**
 * A list of `{labels, value}`, or a number. `series`: `{labels, points: [{atMs, value}]}`, with the name as the label
 * `__name__`; an undefined value marks the series as gone.
 */
export function evaluate(tree, series, atMs) {
  const run = (node) => evaluate(node, series, atMs);
  const chosen = ({ name, matchers }) =>
    series.filter(({ labels }) => labels.__name__ === name && matchers.every((matcher) => matches(labels, matcher)));
  const within = (points, fromMs, toMs) => points.filter((point) => point.atMs >= fromMs && point.atMs <= toMs);
  switch (tree.kind) {
    case 'number':
      return tree.value;
    case 'instant': {
      const until = atMs - tree.offsetMs;
      return chosen(tree).flatMap(({ labels, points }) => {
        const value = within(points, until - lookbackMs, until).at(-1)?.value;
        return value === undefined ? [] : [{ labels, value }];
      });
    }
    case 'aggregation': {
      const groups = new Map();
      for (const { labels, value } of run(tree.of)) {
        const kept = tree.by === undefined ? {} : (tree.by.how === 'by' ? pick : drop)(unnamed(labels), tree.by.labels);
        const group = groups.get(keyOf(kept)) ?? { labels: kept, values: [] };
        group.values.push(value);
        groups.set(keyOf(kept), group);
      }
      return [...groups.values()].map(({ labels, values }) => ({ labels, value: aggregations[tree.name](values) }));
    }
    case 'call':
      if (tree.name === 'time') return atMs / 1000;
      return call(tree, run, (node) => {
        const until = atMs - node.offsetMs;
        return chosen(node).map(({ labels, points }) => ({
          labels: unnamed(labels),
          points: within(points, until - node.rangeMs, until).filter(({ value }) => value !== undefined),
        }));
      });
    case 'binary':
      return binary(tree, run(tree.left), run(tree.right));
    default:
      throw new SyntaxError(`${tree.kind} stands alone`);
  }
}

function call({ name, args }, run, ranges) {
  const over = (of) =>
    ranges(args[0]).flatMap(({ labels, points }) => {
      const value = of(points);
      return value === undefined ? [] : [{ labels, value }];
    });
  switch (name) {
    case 'rate':
      return over(rate);
    case 'increase':
      return over((points) => {
        const perSecond = rate(points);
        return perSecond === undefined ? undefined : (perSecond * args[0].rangeMs) / 1000;
      });
    case 'max_over_time':
      return over((points) => (points.length === 0 ? undefined : Math.max(...points.map(({ value }) => value))));
    case 'absent':
      if (run(args[0]).length > 0) return [];
      return [
        {
          labels: Object.fromEntries(
            args[0].matchers.filter(({ sign }) => sign === '=').map(({ label, value }) => [label, value]),
          ),
          value: 1,
        },
      ];
    case 'histogram_quantile': {
      const groups = new Map();
      for (const bucket of run(args[1])) {
        const labels = drop(unnamed(bucket.labels), ['le']);
        const group = groups.get(keyOf(labels)) ?? { labels, buckets: [] };
        group.buckets.push(bucket);
        groups.set(keyOf(labels), group);
      }
      return [...groups.values()].map(({ labels, buckets }) => ({ labels, value: quantile(args[0].value, buckets) }));
    }
    case 'label_replace': {
      // Only with an empty source and pattern: then it sets a label.
      const [, label, value] = args.map((arg) => arg.value);
      return run(args[0]).map((sample) => ({ ...sample, labels: { ...unnamed(sample.labels), [label]: value } }));
    }
    default:
      throw new SyntaxError(`the function ${name} is not known here`);
  }
}

function binary({ sign, on, take }, left, right) {
  const keyed = (labels) => keyOf(on ? pick(labels, on) : unnamed(labels));
  if (sign === 'or' || sign === 'and' || sign === 'unless') {
    const [mine, theirs] = [left, right].map((list) => new Set(list.map(({ labels }) => keyed(labels))));
    if (sign === 'or') return [...left, ...right.filter(({ labels }) => !mine.has(keyed(labels)))];
    return left.filter(({ labels }) => theirs.has(keyed(labels)) === (sign === 'and'));
  }
  const compare = comparisons[sign];
  const one = (labels, a, b, kept) => {
    if (!compare) return [{ labels: unnamed(labels), value: arithmetic[sign](a, b) }];
    return compare(a, b) ? [{ labels, value: kept }] : [];
  };
  if (typeof left === 'number' && typeof right === 'number') {
    if (compare) throw new SyntaxError('two numbers are not compared in an alert');
    return arithmetic[sign](left, right);
  }
  if (typeof right === 'number') return left.flatMap(({ labels, value }) => one(labels, value, right, value));
  if (typeof left === 'number') return right.flatMap(({ labels, value }) => one(labels, left, value, value));
  const others = new Map(right.map((sample) => [keyed(sample.labels), sample]));
  if (others.size < right.length) throw new SyntaxError(`several values on the right of ${sign} match one on the left`);
  return left.flatMap(({ labels, value }) => {
    const other = others.get(keyed(labels));
    if (!other) return [];
    const kept = take ? { ...labels, ...pick(other.labels, take) } : on ? pick(labels, on) : labels;
    return one(kept, value, other.value, value);
  });
}
