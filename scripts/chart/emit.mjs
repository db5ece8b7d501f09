// Objects with placeholders for values → the text of a Helm template: plain YAML, except for the placeholders. Checks
// nothing.
import { stringify } from 'yaml';

/** A Helm expression instead of a value. */
export class Value {
  constructor(expression) {
    this.expression = expression;
  }
}

/** An object, an entry of a map or an item of a list that exists only if `condition` holds. */
export class When {
  constructor(condition, content) {
    this.condition = condition;
    this.content = content;
  }
}

const open = '⟦';
const close = '⟧';
/** A Helm expression inside a string. Its own strings have backquotes, which YAML does not escape. */
export const inside = (expression) => `${open}${expression}${close}`;

/** Literal braces (Prometheus uses them in its alerts) are escaped; our markers become braces. */
const withBraces = (text) => text.replaceAll('{{', '{{ "{{" }}').replaceAll(open, '{{ ').replaceAll(close, ' }}');

const indented = (text, by) => text.replaceAll(/\n(?=.)/g, `\n${' '.repeat(by)}`);

function scalar(value, by) {
  if (value instanceof Value) return `{{ ${value.expression} }}`;
  // A block scalar would lose the indentation of its first line.
  if (typeof value === 'string' && /^\s/.test(value)) return withBraces(JSON.stringify(value));
  return withBraces(indented(stringify(value, { lineWidth: 0 }).trimEnd(), by));
}

const isScalar = (value) =>
  value instanceof Value || value === null || typeof value !== 'object' || Object.keys(value).length === 0;

function guarded(content, by, write) {
  if (!(content instanceof When)) return write(content);
  const margin = ' '.repeat(by);
  return [`${margin}{{- if ${content.condition} }}`, ...write(content.content), `${margin}{{- end }}`];
}

function lines(value, by) {
  const margin = ' '.repeat(by);
  if (Array.isArray(value))
    return value.flatMap((item) =>
      guarded(item, by, (one) => {
        if (isScalar(one)) return [`${margin}- ${scalar(one, by + 2)}`];
        const [first, ...rest] = lines(one, by + 2);
        // A list must not begin with a condition, because the line of a condition is not an item.
        if (first.includes('{{- if')) throw new Error(`an item begins with a condition: ${first.trim()}`);
        return [`${margin}- ${first.slice(by + 2)}`, ...rest];
      }),
    );
  return Object.entries(value).flatMap(([key, entry]) =>
    guarded(entry, by, (one) =>
      isScalar(one)
        ? [`${margin}${stringify(key).trimEnd()}: ${scalar(one, by + 2)}`]
        : [`${margin}${stringify(key).trimEnd()}:`, ...lines(one, Array.isArray(one) ? by : by + 2)],
    ),
  );
}

/** One document of a template for each object. */
export function template(objects) {
  return objects.flatMap((object) => guarded(object, 0, (one) => ['---', ...lines(one, 0)])).join('\n') + '\n';
}
