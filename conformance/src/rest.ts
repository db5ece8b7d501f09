/**
 * The relay over REST. Every answer is checked against the schemas of the protocol and the rules for all answers:
 * X-Request-Id, the three limit headers, the shape of errors. Stays within the rate limits.
 */
import {
  ErrorResponse,
  type Route,
  type RouteName,
  type RouteSuccess,
  type TSchema,
  type Validator,
  errorCatalogue,
  routes,
  validator,
} from '@relay/protocol';
import { matches, must, same, show } from './expect.ts';
import type { Answer, Http } from './http.ts';
import type { Pace } from './pace.ts';

export interface CallOptions {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, as JSON unless `headers` set another type. */
  raw?: string | Buffer;
  headers?: Readonly<Record<string, string>>;
  /** The bearer token; `null` omits it. Absent: the user's token, on routes that need one. */
  as?: string | null;
  /** Set by checks that expect a 429. */
  untilLimit?: true;
}

export interface Good<N extends RouteName> extends Answer {
  readonly body: RouteSuccess<N>['body'];
}

export interface Rest {
  /** A call that must succeed. @throws Unmet */
  ok<N extends RouteName>(name: N, options?: CallOptions): Promise<Good<N>>;
  /** A call that must be refused with this code (and its status in the catalogue). @throws Unmet */
  refused(name: RouteName, code: string, options?: CallOptions): Promise<Answer>;
  /** Any call; checks only the rules for all answers. @throws Unmet */
  call(name: RouteName, options?: CallOptions): Promise<Answer>;
  /** Any request, also to addresses that do not exist. @throws Unmet */
  send(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Every request of this run that was answered with 500. */
  readonly failures: readonly string[];
}

/**
 * `/api/sessions/:id` with the parameters in their places, percent-encoded.
 * @throws TypeError for a missing parameter: without it, the path is that of another route
 */
export function pathOf(route: Route, params: Readonly<Record<string, string>> = {}): string {
  return route.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new TypeError(`params.${name} is missing`);
    return encodeURIComponent(value);
  });
}

export function createRest(options: {
  url: string;
  token: string;
  otherToken: string | undefined;
  http: Http;
  pace: Pace;
}): Rest {
  const { url, token, otherToken, http, pace } = options;
  const failures: string[] = [];
  const validators = new Map<string, Validator<unknown>>();
  const error = validator(ErrorResponse);

  const fits = (key: string, schema: TSchema, answer: Answer, where: string) => {
    const check = validators.get(key) ?? validator(schema);
    validators.set(key, check);
    const checked = check(answer.body);
    must(
      checked.ok,
      `${where}: the body does not fit the schema, ${checked.ok ? '' : checked.reason}; came ${answer.text.slice(0, 400)}`,
    );
  };

  const fitsError = (answer: Answer, where: string, refusal: TSchema | undefined) => {
    if (refusal) {
      const checked = validator(refusal)(answer.body);
      if (checked.ok) return;
    }
    const checked = error(answer.body);
    must(
      checked.ok,
      `${where}: expected {error, code, status}, ${checked.ok ? '' : checked.reason}; came ${answer.status} ${answer.text.slice(0, 200)}`,
    );
    const { code, status } = checked.value;
    same(status, answer.status, `${where}: field "status" of the error`);
    const known = Object.hasOwn(errorCatalogue, code) ? errorCatalogue[code as keyof typeof errorCatalogue] : undefined;
    if (known) same(answer.status, known.status, `${where}: status of ${code}`);
  };

  const bearer = (as: string | null): Record<string, string> => (as === null ? {} : { Authorization: `Bearer ${as}` });

  const perform = async (method: string, path: string, callOptions: CallOptions, creates: boolean): Promise<Answer> => {
    const { query = {}, body, raw, headers = {}, as = token, untilLimit } = callOptions;
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) search.set(key, String(value));
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const json: Record<string, string> = payload === undefined ? {} : { 'Content-Type': 'application/json' };
    // A request without a valid token counts against the address, and so does one of a device.
    const who = as === token ? 'the user' : as === otherToken ? 'the other user' : 'requests of this address';
    for (;;) {
      if (!untilLimit) await pace.turn(who, creates);
      const sent = { headers: { ...json, ...bearer(as), ...headers }, payload };
      const answer = await http.send(method, `${url}${path}${search.size > 0 ? `?${search.toString()}` : ''}`, sent);
      if (answer.status === 500) failures.push(`${method} ${path.slice(0, 100)}`);
      if (answer.status !== 429 || untilLimit) {
        pace.learn(who, creates, answer);
        return answer;
      }
      await pace.refused(answer);
    }
  };

  const checkCommon = (answer: Answer, where: string, refusal?: TSchema) => {
    must(answer.headers['x-request-id'], `${where}: expected the header X-Request-Id, came ${show(answer.headers)}`);
    if (answer.status >= 400) fitsError(answer, where, refusal);
  };

  const call: Rest['call'] = async (name, callOptions = {}) => {
    const route: Route = routes[name];
    const as = callOptions.as === undefined && !route.credential.startsWith('user') ? null : callOptions.as;
    const path = pathOf(route, callOptions.params);
    const where = `${route.method} ${route.path}`;
    const answer = await perform(
      route.method,
      path,
      as === undefined ? callOptions : { ...callOptions, as },
      route.limit === 'creation',
    );
    if (Object.hasOwn(route.success, answer.status)) {
      must(answer.headers['x-request-id'], `${where}: expected the header X-Request-Id`);
      const schema = route.success[answer.status];
      if (schema) fits(`${name} ${answer.status}`, schema, answer, `${where} → ${answer.status}`);
      else same(answer.text, '', `${where} → ${answer.status}: body`);
      if (route.limit !== 'none' && route.limit !== 'misuse') {
        for (const header of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
          matches(answer.headers[header], /^\d+$/, `${where}: header ${header}`);
      }
      return answer;
    }
    checkCommon(answer, where, route.refusals?.[answer.status]);
    return answer;
  };

  return {
    failures,
    call,
    ok: async (name, callOptions) => {
      const answer = await call(name, callOptions);
      const route: Route = routes[name];
      must(
        Object.hasOwn(route.success, answer.status),
        `${route.method} ${route.path}: expected ${Object.keys(route.success).join(' or ')}, came ${answer.status} ${answer.text.slice(0, 300)}`,
      );
      return answer;
    },
    refused: async (name, code, callOptions) => {
      const answer = await call(name, callOptions);
      const route: Route = routes[name];
      const { status } = errorCatalogue[code as keyof typeof errorCatalogue];
      const came = (answer.body as { code?: unknown } | undefined)?.code;
      must(
        answer.status === status && came === code,
        `${route.method} ${route.path}: expected ${status} ${code}, came ${answer.status} ${answer.text.slice(0, 300)}`,
      );
      return answer;
    },
    send: async (method, path, callOptions = {}) => {
      const answer = await perform(method, path, callOptions, method === 'POST' && path === '/api/sessions');
      checkCommon(answer, `${method} ${path.slice(0, 100)}`);
      return answer;
    },
  };
}
