// The alerts that fire: rules and series as they would have been scraped → alerts at a moment, as Prometheus decides it.
import { durationMs, evaluate, parseQuery } from './promql.mjs';

/**
 * `name{label="value"}` and values in the notation of promtool (`0+10x5`, `3x10`, `_`, `stale`) → a series; one value per
 * `intervalMs`.
 */
export function readSeries({ series, values }, intervalMs) {
  const [, name, matchers = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?$/.exec(series) ?? [];
  if (name === undefined) throw new SyntaxError(`not a series: ${series}`);
  const labels = { __name__: name };
  for (const [, label, value] of matchers.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)) labels[label] = value;
  const points = [];
  let atMs = 0;
  const say = (value) => {
    if (value !== null) points.push({ atMs, value });
    atMs += intervalMs;
  };
  for (const word of values.trim().split(/\s+/)) {
    const [, start, step = '0', times = '0'] =
      /^(-?\d+(?:\.\d+)?|_|stale)([-+]\d+(?:\.\d+)?)?(?:x(\d+))?$/.exec(word) ?? [];
    if (start === undefined) throw new SyntaxError(`not values: ${word}`);
    if (start === '_') for (let n = 0; n < Math.max(1, Number(times)); n += 1) say(null);
    else if (start === 'stale') say(undefined);
    else for (let n = 0; n <= Number(times); n += 1) say(Number(start) + n * Number(step));
  }
  return { labels, points };
}

/**
 * The label sets, including the rule's labels, that fire at `atMs` if the rule has been evaluated every `everyMs` from
 * 0 on.
 */
export function firing(rule, series, atMs, everyMs) {
  const tree = parseQuery(rule.expr);
  const waitMs = durationMs(rule.for ?? '');
  let since = new Map();
  // A firing alert has been active since then at least; earlier values do not matter.
  const fromMs = Math.max(0, Math.floor((atMs - waitMs) / everyMs) * everyMs);
  for (let nowMs = fromMs; nowMs <= atMs; nowMs += everyMs) {
    const active = new Map();
    for (const { labels } of evaluate(tree, series, nowMs)) {
      const told = { ...labels, ...rule.labels };
      delete told.__name__;
      const key = JSON.stringify(Object.entries(told).sort());
      active.set(key, since.get(key) ?? nowMs);
    }
    since = active;
  }
  return [...since]
    .filter(([, beganMs]) => atMs - beganMs >= waitMs)
    .map(([key]) => Object.fromEntries(JSON.parse(key)));
}
