/** Makes a copy of a value for the log: replaces credentials and people's texts by their name, and bounds the size. */
import { types } from 'node:util';
import { safeUrl } from './safe-url.ts';

const redacted = '[redacted]';
const maxDepth = 6;
const maxValues = 500;
const maxItems = 50;
const maxText = 4_096;
const maxName = 100;
const maxCauses = 3;

/**
 * Matched by suffix: `refresh_token`, `x-api-key`, `oldPassword`, `set-cookie`. Compared in lower case, without `_` and
 * `-`.
 */
const secretName =
  /(token|secret|password|passwd|passphrase|apikey|privatekey|cookie|authorization|credential|ticket|jwt|bearer|tokenhash|devicecode|usercode|codeverifier|secwebsocketprotocol|databaseurl|redisurl|rawheaders|auth|p256dh)s?$/;

/** Texts of people and agents (rules, 15.12) never reach the log. */
const contentName =
  /^(content|message|instruction|output|result|prompt|lastmessage|lasttext|argsummary|images?|options|transcript)$/;

const addressName = /(url|uri|href)(complete)?$/;

/** Everything else in a request is left out: an unforeseen header cannot leak. */
const harmlessHeaders = [
  'host',
  'origin',
  'user-agent',
  'content-type',
  'content-length',
  'upgrade',
  'x-request-id',
  'x-device-id',
  'x-agent-type',
  'x-daemon-version',
  'x-daemon-capabilities',
];

interface Walk {
  /** Remaining number of values to copy: limits on breadth and depth alone would not bound a wide and deep value. */
  left: number;
}

type Fields = Readonly<Record<string, unknown>>;

const plainName = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

/** At most 4,096 characters of `text`. */
export const cutText = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text);

/** Also accepts errors from another realm, as Node's errors are in some test runners. */
function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function field(object: object, name: string): unknown {
  try {
    return (object as Fields)[name];
  } catch {
    return '[unreadable]';
  }
}

function textField(object: object, name: string): string | undefined {
  const value = field(object, name);
  return typeof value === 'string' ? cutText(value) : undefined;
}

/** Type, message, stack, code and causes. Other properties of errors hold parameters of queries and bodies of requests. */
function errorView(error: Error, causes = maxCauses): Fields {
  const code = field(error, 'code');
  const cause = field(error, 'cause');
  const errors = field(error, 'errors');
  return {
    type: textField(error, 'name') ?? 'Error',
    message: textField(error, 'message') ?? '',
    stack: textField(error, 'stack'),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(causes > 0 && isError(cause) ? { cause: errorView(cause, causes - 1) } : {}),
    ...(causes > 0 && Array.isArray(errors)
      ? {
          errors: errors
            .filter(isError)
            .slice(0, 5)
            .map((one) => errorView(one, 0)),
        }
      : {}),
  };
}

/** A request of Node or express: method, safe address, where from, and headers that are harmless by name. */
function requestView(request: object): Fields {
  const headers = field(request, 'headers');
  const socket = field(request, 'socket');
  const from = typeof socket === 'object' && socket !== null ? textField(socket, 'remoteAddress') : undefined;
  const shown =
    typeof headers === 'object' && headers !== null
      ? harmlessHeaders.flatMap((name) => {
          const value = textField(headers, name);
          return value === undefined ? [] : [[name, name === 'origin' ? safeUrl(value) : value] as const];
        })
      : [];
  return {
    id: textField(request, 'id'),
    method: textField(request, 'method'),
    url: safeUrl(textField(request, 'originalUrl') ?? textField(request, 'url') ?? ''),
    remoteAddress: textField(request, 'ip') ?? from ?? textField(request, 'remoteAddress'),
    headers: Object.fromEntries(shown),
  };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A request of Node or express, or the output of a serializer. */
function isRequest(value: object): boolean {
  return ['method', 'url', 'headers'].every((name) => name in value);
}

function textView(text: string, name: string): string {
  if (contentName.test(name)) return `[${text.length} characters]`;
  return addressName.test(name) ? safeUrl(text) : cutText(text);
}

function objectView(value: object, name: string, depth: number, walk: Walk): unknown {
  if (isError(value)) return errorView(value);
  if (isRequest(value)) return requestView(value);
  if (types.isDate(value)) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
  if (types.isMap(value) || types.isSet(value)) return `[${value.size} entries]`;
  if (depth >= maxDepth) return '[too deep]';
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => visit(item, name, depth + 1, walk));
    return value.length > maxItems ? [...items, `[${value.length - maxItems} more]`] : items;
  }
  if (isPlain(value)) return fieldsView(value, depth, walk);
  const toJson = field(value, 'toJSON');
  if (typeof toJson !== 'function') return `[${value.constructor?.name ?? 'object'}]`;
  try {
    return visit(toJson.call(value), name, depth + 1, walk);
  } catch {
    return '[unreadable]';
  }
}

function fieldsView(value: object, depth: number, walk: Walk): Fields {
  const names = Object.keys(value);
  const shown = names
    .slice(0, maxItems)
    .map((key) => [key.slice(0, maxName), visit(field(value, key), plainName(key), depth + 1, walk)]);
  if (names.length > maxItems) shown.push(['…', `[${names.length - maxItems} more]`]);
  return Object.fromEntries(shown) as Fields;
}

function visit(value: unknown, name: string, depth: number, walk: Walk): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  if (secretName.test(name)) return redacted;
  walk.left -= 1;
  if (walk.left < 0) return '[too much]';
  if (typeof value === 'string') return textView(value, name);
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'object' ? objectView(value, name, depth, walk) : undefined;
}

/**
 * A copy of `fields` for the log; does not change `fields`. Replaces values under credential names, replaces texts
 * under conversation names by their length, keeps only the harmless parts of errors and requests, and removes
 * credentials from addresses. At most 500 values, 6 deep, 4,096 characters each. Never throws.
 */
export function redactFields(fields: object): Fields {
  const walk: Walk = { left: maxValues };
  if (isError(fields)) return { err: errorView(fields) };
  if (isRequest(fields)) return { req: requestView(fields) };
  if (Array.isArray(fields) || !isPlain(fields)) return { value: visit(fields, '', 0, walk) };
  return fieldsView(fields, 0, walk);
}
