/** REST over supertest: calls that the table of routes types, and any other request with nothing hidden. */
import {
  type ErrorResponse as ErrorSchema,
  type RouteBody,
  type RouteName,
  type RouteParams,
  type RouteQuery,
  type RouteSuccess,
  type Static,
  routes,
} from '@relay/protocol';
import request, { type Test } from 'supertest';

interface RequestOptions {
  /** Sent as JSON unless `raw` is given. */
  body?: unknown;
  /** Sent unchanged, as JSON unless `headers` set another type. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** The parsed body; undefined if it is empty. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- requests outside the table have bodies of every shape
  body: any;
  text: string;
}

/** The caller and the api of a request. */
interface Caller {
  /** The name that the test issuer puts into the token. Default `alice`; `null` sends no credential. */
  user?: string | null;
  /** The index of the api. Default: the first. */
  api?: number;
  headers?: Record<string, string>;
}

export type CallOptions = RequestOptions & Caller;

type IfAny<Keys extends PropertyKey, Then> = [Keys] extends [never] ? unknown : Then;

/** Every parameter of the path, the body if the route has one, and the required part of the query. */
type RouteCall<N extends RouteName> = Caller &
  IfAny<keyof RouteParams<N>, { params: RouteParams<N> }> &
  (undefined extends RouteBody<N>
    ? unknown
    : Partial<RouteBody<N>> extends RouteBody<N>
      ? { body?: RouteBody<N> }
      : { body: RouteBody<N> }) &
  (RouteQuery<N> extends object ? { query?: { [Key in keyof RouteQuery<N>]?: string | number | undefined } } : unknown);

type Options<N extends RouteName> = object extends RouteCall<N> ? [options?: RouteCall<N>] : [options: RouteCall<N>];

type Refusal = Static<typeof ErrorSchema>;
type WithRefusal<Body> = Body extends object ? Body & Partial<Omit<Refusal, keyof Body>> : never;

/** An answer of this route: its body, or for a refusal the fields of an error. */
interface RouteAnswer<N extends RouteName> extends Answer {
  body: [WithRefusal<RouteSuccess<N>['body']>] extends [never]
    ? Partial<Refusal>
    : WithRefusal<RouteSuccess<N>['body']>;
}

export interface Call {
  /** One call of a route, typed by the table of routes. */
  <N extends RouteName>(name: N, ...options: Options<N>): Promise<RouteAnswer<N>>;
  /** Any request: addresses that do not exist, bodies that no route takes. */
  (method: string, path: string, options?: CallOptions): Promise<Answer>;
}

const asText = (response: NodeJS.ReadableStream, done: (error: Error | null, text: string) => void): void => {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)));
  response.on('end', () => done(null, Buffer.concat(chunks).toString('utf8')));
};

/** One HTTP request over a connection of its own. */
export async function send(
  method: string,
  url: string,
  { body, raw, headers = {} }: RequestOptions = {},
): Promise<Answer> {
  const methods = request(url) as unknown as Record<string, (path: string) => Test & { agent(agent: false): Test }>;
  const test = methods[method.toLowerCase()]!('');
  test.agent(false);
  void test.buffer(true).parse(asText as never);
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  if (payload !== undefined) void test.set('Content-Type', 'application/json');
  void test.set(headers);
  // Send bytes that are not JSON unchanged.
  const response = await (payload === undefined
    ? test
    : test.serialize((data: unknown) => data as string).send(payload as string));
  const text = typeof response.body === 'string' ? response.body : '';
  const isJson = (response.get('Content-Type') ?? '').includes('json') && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
    text,
  };
}

/** Method and address of a route, its parameters percent-encoded. */
function addressOf(
  name: RouteName,
  options: { params?: Record<string, string>; query?: Record<string, string | number | undefined> },
) {
  const { method, path } = routes[name];
  const { params = {}, query = {} } = options;
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const filled = path.replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ''));
  return { method, path: search.size > 0 ? `${filled}?${search.toString()}` : filled };
}

/** Calls to the apis at these addresses. */
export function callerOf(urls: readonly string[], token: (user?: string) => string): Call {
  const signed = new Map<string, { token: string; second: number }>();
  /** One token of a person per second: the relay verifies each token once. Two tokens of one second differ only in their id. */
  const tokenOf = (user: string) => {
    const second = Math.floor(Date.now() / 1000);
    let last = signed.get(user);
    if (last?.second !== second) signed.set(user, (last = { token: token(user), second }));
    return last.token;
  };
  const perform = (method: string, path: string, { user = 'alice', api = 0, ...rest }: CallOptions = {}) =>
    send(method, `${urls[api]!}${path}`, {
      ...rest,
      headers: { ...(user === null ? {} : { Authorization: `Bearer ${tokenOf(user)}` }), ...rest.headers },
    });
  return (first: string, second?: unknown, options?: CallOptions) => {
    if (typeof second === 'string') return perform(first, second, options);
    const { params, query, ...rest } = (second ?? {}) as CallOptions & Parameters<typeof addressOf>[1];
    const { method, path } = addressOf(first as RouteName, { params, query });
    return perform(method, path, rest);
  };
}
