/**
 * The library accepts only signatures of the first AUTH_SECRET. A signature of a later secret is made again before the library
 * sees it: cookies, and the query that a sign-in carries from page to page. So a browser stays signed in when a new secret is put
 * first.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

interface CookieKind {
  name: string;
  attributes: { maxAge?: number | undefined; secure?: boolean | undefined };
}

interface Options {
  /** AUTH_SECRET: the first one signs. */
  secrets: readonly string[];
  /** The names of all cookies of the library begin with it. */
  prefix: string;
  /**
   * Cookies that outlive a step of a sign-in and that the answer renews: of the session, and of a session that lasts as long as
   * its browser.
   */
  lasting: readonly [session: CookieKind, notRemembered: CookieKind];
}

/** A request with its signed parts, in the form that the library expects. */
interface Resigned {
  headers: Headers;
  body: Buffer;
  /** Lines of `Set-Cookie` for the answer, by the name of the cookie. */
  renewed: ReadonlyMap<string, string>;
}

const sign = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest();

/** As the library signs a query: sorted, without its signature. */
function signedText(query: URLSearchParams): string {
  const entries = [...query].filter(([name]) => name !== 'sig');
  entries.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0));
  return new URLSearchParams(entries).toString();
}

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
};

/** `headers` and `body` of a request to the library; `body` is JSON if its content type is JSON. */
export type Resign = (headers: Headers, body: Buffer) => Resigned;

export function createResigner({ secrets: [first = '', ...older], prefix, lasting }: Options): Resign {
  /** The signature under the first secret in place of one under another; undefined when it is not one. */
  function resign(text: string, signature: string): string | undefined {
    const given = Buffer.from(signature, 'base64');
    const isOlder = (secret: string) => given.length === 32 && timingSafeEqual(given, sign(secret, text));
    return older.some(isOlder) ? sign(first, text).toString('base64') : undefined;
  }

  function cookie(pair: string): { name: string; value: string } | undefined {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    if (equals < 0 || !name.startsWith(`${prefix}.`)) return undefined;
    const value = decoded(pair.slice(equals + 1).trim());
    const dot = value.lastIndexOf('.');
    const signature = resign(value.slice(0, dot), value.slice(dot + 1));
    return signature === undefined
      ? undefined
      : { name, value: encodeURIComponent(`${value.slice(0, dot)}.${signature}`) };
  }

  function query(text: string): string {
    const params = new URLSearchParams(text);
    const signature = resign(signedText(params), params.get('sig') ?? '');
    if (signature !== undefined) params.set('sig', signature);
    return params.toString();
  }

  function inBody(body: Buffer, type: string): Buffer {
    if (!/^application\/json\b/i.test(type) || !body.includes('"oauth_query"')) return body;
    const read = JSON.parse(body.toString()) as Record<string, unknown> | null;
    const carried = read?.['oauth_query'];
    if (typeof carried !== 'string') return body;
    return Buffer.from(JSON.stringify({ ...read, oauth_query: query(carried) }));
  }

  return (headers, body) => {
    if (older.length === 0) return { headers, body, renewed: new Map() };
    const pairs = (headers.get('cookie') ?? '').split(';');
    const renewed = new Map<string, string>();
    const isRemembered = !pairs.some((pair) => pair.trim().startsWith(`${lasting[1].name}=`));
    const fresh = pairs.map((pair) => {
      const found = cookie(pair);
      if (!found) return pair;
      for (const { name, attributes } of lasting)
        if (name === found.name) {
          const age = isRemembered && attributes.maxAge !== undefined ? `; Max-Age=${attributes.maxAge}` : '';
          const secure = attributes.secure ? '; Secure' : '';
          renewed.set(name, `${name}=${found.value}${age}; Path=/; HttpOnly${secure}; SameSite=Lax`);
        }
      return `${found.name}=${found.value}`;
    });
    const given = new Headers(headers);
    if (pairs.join('') !== '') given.set('cookie', fresh.map((pair) => pair.trim()).join('; '));
    return { headers: given, body: inBody(body, headers.get('content-type') ?? ''), renewed };
  };
}
