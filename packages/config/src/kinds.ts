/** The kinds of values a variable can hold: how a text becomes one, and how its rule reads to a person. */
import { resolve } from 'node:path';
import {
  type DerivedDefault,
  type Kind,
  type Facts,
  type Parsed,
  type Variable,
  type Role,
  allRoles,
} from './variable.ts';

/** The longest delay Node's timers take; one millisecond more would fire at once. */
export const maxTimerMs = 2_147_483_647;

interface Shape<T> {
  readonly kind: Kind;
  readonly accepts: string;
  readonly unit?: string;
  readonly secret?: boolean;
  readonly parse: (text: string) => Parsed<T>;
}

/** Prints a default the way it would be written in the environment. */
function written(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  if (typeof value === 'boolean') return value ? '`on`' : '`off`';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function writtenPerRole<T>(values: Readonly<Record<Role, T>>): string {
  const byText = new Map<string, Role[]>();
  for (const role of allRoles) {
    const text = written(values[role]);
    byText.set(text, [...(byText.get(text) ?? []), role]);
  }
  return [...byText].map(([text, roles]) => `${text} (${roles.join(', ')})`).join(', ');
}

function defaultOf<T>(facts: Facts<T>): DerivedDefault<T> {
  const { derived, perRole } = facts;
  if (derived) return derived;
  if (perRole) return { text: writtenPerRole(perRole), from: ({ role }) => perRole[role] };
  // Absent: the kinds without a default have `undefined` in their type.
  return { text: written(facts.default), from: () => facts.default as T };
}

export function variable<T>(group: string, shape: Shape<T>, facts: Facts<T>): Variable<T> {
  return {
    kind: shape.kind,
    accepts: shape.accepts,
    unit: shape.unit,
    secret: shape.secret ?? false,
    group,
    meaning: facts.meaning,
    readBy: facts.readBy ?? allRoles,
    default: defaultOf(facts),
    parse: shape.parse,
  };
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
}

export function int({ min, max, unit }: Range): Shape<number> {
  const accepts = `a whole number${unit ? ` of ${unit}` : ''} from ${min} to ${max}`;
  const parse = (text: string): Parsed<number> => {
    if (!/^\d{1,15}$/.test(text)) return { expected: accepts };
    const value = Number(text);
    return value < min || value > max ? { expected: accepts } : { value };
  };
  return { kind: 'int', accepts, parse, ...(unit ? { unit } : {}) };
}

export function share(): Shape<number> {
  const accepts = 'a number from 0 to 1';
  const parse = (text: string): Parsed<number> =>
    /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(text) ? { value: Number(text) } : { expected: accepts };
  return { kind: 'share', accepts, parse };
}

export function port(): Shape<number> {
  return { ...int({ min: 0, max: 65_535 }), kind: 'port' };
}

export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  const accepts = `one of ${words.join(', ')}`;
  const parse = (text: string): Parsed<T> => {
    const value = words.find((word) => word === text);
    return value === undefined ? { expected: accepts } : { value };
  };
  return { kind: 'enum', accepts, parse };
}

export function onOff(): Shape<boolean> {
  const accepts = 'on or off';
  const parse = (text: string): Parsed<boolean> =>
    text === 'on' ? { value: true } : text === 'off' ? { value: false } : { expected: accepts };
  return { kind: 'bool', accepts, parse };
}

/** A text that one regular expression describes. */
export function text(pattern: RegExp, accepts: string): Shape<string> {
  return {
    kind: 'string',
    accepts,
    parse: (given) => (pattern.test(given) ? { value: given } : { expected: accepts }),
  };
}

/** A folder or file; a relative one is taken from the working directory at the start, so that a later chdir changes nothing. */
export function path(): Shape<string> {
  const accepts = 'a path';
  const parse = (given: string): Parsed<string> =>
    given.includes('\0') ? { expected: accepts } : { value: resolve(given) };
  return { kind: 'path', accepts, parse };
}

/** An address of one of `schemes`; the value keeps the text. `secret`: it can carry a password and is never printed. */
export function url(schemes: readonly string[], options: { secret?: boolean } = {}): Shape<string | undefined> {
  const accepts = `an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  const parse = (given: string): Parsed<string> => {
    if (!URL.canParse(given)) return { expected: accepts };
    return schemes.includes(new URL(given).protocol.slice(0, -1)) ? { value: given } : { expected: accepts };
  };
  return { kind: 'url', accepts, parse, secret: options.secret ?? false };
}

/**
 * An address of Redis, which can name several hosts and is then not a valid URL. The room that connects parses the
 * rest.
 */
export function redisUrl(): Shape<string | undefined> {
  const accepts =
    'an address that begins with redis://, redis+sentinel:// or redis+cluster:// (rediss for TLS) and names a host';
  const parse = (given: string): Parsed<string> =>
    /^rediss?(\+sentinel|\+cluster)?:\/\/[^\s/]+\S*$/.test(given) ? { value: given } : { expected: accepts };
  return { kind: 'url', accepts, parse, secret: true };
}

/** Comma-separated; spaces around the parts and empty parts are ignored. */
export function list(part: (text: string) => Parsed<string>, accepts: string): Shape<readonly string[]> {
  const parse = (given: string): Parsed<readonly string[]> => {
    const values: string[] = [];
    for (const piece of given.split(',').map((raw) => raw.trim())) {
      if (piece === '') continue;
      const parsed = part(piece);
      if ('expected' in parsed) return { expected: `${accepts}; "${piece}" is not ${parsed.expected}` };
      if (!values.includes(parsed.value)) values.push(parsed.value);
    }
    return { value: values };
  };
  return { kind: 'list', accepts, parse };
}

/** JSON whose meaning `read` checks; its refusals name the field. `secret`: it carries one, and no part of it is ever printed. */
export function json<T>(
  read: (value: unknown) => Parsed<T>,
  accepts: string,
  options: { secret?: boolean } = {},
): Shape<T> {
  const parse = (given: string): Parsed<T> => {
    let value: unknown;
    try {
      value = JSON.parse(given);
    } catch {
      return { expected: `${accepts}; this is not JSON` };
    }
    const parsed = read(value);
    return 'expected' in parsed ? { expected: `${accepts}; ${parsed.expected}` } : parsed;
  };
  return { kind: 'json', accepts, parse, secret: options.secret ?? false };
}

/** A comma-separated list of secrets, each long enough to resist guessing. Their texts are never shown. */
export function secrets(accepts: string): Shape<readonly string[]> {
  const parse = (given: string): Parsed<readonly string[]> => {
    const values = given.split(',').map((part) => part.trim());
    return values.every((value) => value.length >= 32) ? { value: values } : { expected: accepts };
  };
  return { kind: 'secret', accepts, parse, secret: true };
}
