/** The address of Redis, in one line. Errors never repeat the line: it holds a password. */

export interface RedisNodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** The server, the sentinels, or some nodes of the cluster: the others are learned from them. */
  readonly nodes: readonly RedisNodeAddress[];
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  /** Always 0 in a cluster. */
  readonly db: number;
  /** Sentinel: the sentinels' name for the group. */
  readonly master?: string;
  /** Sentinel: how to sign in at the sentinels themselves; undefined if they need no login. */
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
}

/** The message is for people. */
export class RedisAddressError extends TypeError {
  override readonly name = 'RedisAddressError';
}

const form = /^(redis|rediss)(\+sentinel|\+cluster)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

/**
 * Reads `REDIS_URL`. `rediss` is TLS; names and passwords are percent-encoded; the default port is 6379, and 26379 for
 * a sentinel.
 *
 * - `redis://[user:password@]host[:port][/db]`: one server
 * - `redis+sentinel://[user:password@]host[:port],host[:port]…/master[/db][?sentinelUsername=…&sentinelPassword=…]`:
 *   the group `master` of the sentinels; user and password are for its servers
 * - `redis+cluster://[user:password@]host[:port],host[:port]…`: some nodes of a Redis Cluster
 *
 * @throws RedisAddressError that names the mistake and never contains the user name or the password
 */
export function parseRedisUrl(text: string): RedisAddress {
  const found = form.exec(text.trim());
  if (!found) {
    throw wrong(
      'it is none of redis://host:6379/0, redis+sentinel://host:26379,host:26379/master and ' +
        'redis+cluster://host:6379,host:6379 (rediss for TLS; special characters in a password are percent-encoded)',
    );
  }
  const [, scheme, variant, credentials, hosts = '', path = '', query = ''] = found;
  const kind = variant === '+sentinel' ? 'sentinel' : variant === '+cluster' ? 'cluster' : 'single';
  const nodes = hosts.split(',').map((host) => parseHost(host, kind === 'sentinel' ? 26379 : 6379));
  if (kind === 'single' && nodes.length > 1)
    throw wrong('several hosts need redis+sentinel:// or redis+cluster://, so that it is clear what they are');
  const parts = path.split('/').filter((piece) => piece !== '');
  const master = kind === 'sentinel' ? parts.shift() : undefined;
  if (kind === 'sentinel' && master === undefined)
    throw wrong('the name of the master is missing: redis+sentinel://host:26379/<name>');
  if (kind === 'cluster' && parts.length > 0) throw wrong('a cluster has no database number');
  if (parts.length > 1) throw wrong('there is something after the database number');
  const db = Number(parts[0] ?? '0');
  if (!/^\d{1,4}$/.test(parts[0] ?? '0')) throw wrong('the database is not a number');
  const [username, password] = parseCredentials(credentials);
  const settings = new URLSearchParams(query);
  for (const name of settings.keys()) {
    if (kind !== 'sentinel' || !['sentinelUsername', 'sentinelPassword'].includes(name))
      throw wrong(
        'a setting after the question mark is unknown; only a sentinel has sentinelUsername and sentinelPassword',
      );
  }
  return {
    kind,
    nodes,
    tls: scheme === 'rediss',
    db,
    ...optional('username', username),
    ...optional('password', password),
    ...optional('master', master === undefined ? undefined : decode(master)),
    ...optional('sentinelUsername', settings.get('sentinelUsername')),
    ...optional('sentinelPassword', settings.get('sentinelPassword')),
  };
}

function parseHost(text: string, defaultPort: number): RedisNodeAddress {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text);
  const port = found?.[3] === undefined ? defaultPort : Number(found[3]);
  if (!found || port < 1 || port > 65_535) throw wrong('one of its hosts is not host:port');
  return { host: found[1] ?? found[2]!, port };
}

function parseCredentials(text: string | undefined): [username?: string, password?: string] {
  if (text === undefined || text === '') return [];
  const colon = text.indexOf(':');
  if (colon === -1) throw wrong('before the @ there is no colon: it is user:password@ or :password@');
  return [decode(text.slice(0, colon)) || undefined, decode(text.slice(colon + 1)) || undefined];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('a % in it is not followed by two hexadecimal digits');
  }
}

const optional = <K extends string>(key: K, value: string | null | undefined) =>
  (value ? { [key]: value } : {}) as Partial<Record<K, string>>;

const wrong = (what: string) => new RedisAddressError(`The address of Redis cannot be used (REDIS_URL): ${what}.`);
