// The one table of the environment: every variable, once. The typed configuration and docs/configuration.md follow from it.
// A default may look at variables above its own line only.

import { PUBLIC_URL_RULE, TRUST_PROXY_RULE, isLoopback, origin, publicUrl, trustProxy } from './addresses.ts';
import type { TrustProxy } from './addresses.ts';
import { daemonVersions } from './daemon-versions.ts';
import type { DaemonVersions } from './daemon-versions.ts';
import { issuers } from './issuers.ts';
import type { IssuerSettings } from './issuers.ts';
import { int, json, list, oneOf, onOff, path, port, redisUrl, secrets, text, url, variable } from './kinds.ts';
import { LIMITS, TIMINGS } from './timings.ts';
import { upstreams } from './upstreams.ts';
import type { UpstreamSettings } from './upstreams.ts';

const LISTENING = 'Where it listens';
const MEMORY = 'Memory';
const IDENTITY = 'Who may sign in';
const POLICY = 'Daemons';
const OPERATION = 'Operation';

const SECRETS_RULE = 'a comma list of secrets of at least 32 characters each';
const VERSIONS_RULE =
  'a JSON object such as {"claude_code":{"min":"1.2.0","recommended":"1.4.0","latest":"1.5.0","changelogUrl":"https://…"}}';
const ISSUERS_RULE =
  'a JSON list such as [{"issuer":"https://id.example.com","audience":"https://relay.example.com/api"}]';
const UPSTREAM_RULE =
  'a JSON list such as [{"provider":"github","clientId":"…","clientSecret":"…"},{"provider":"oidc","id":"corp","issuer":"https://id.example.com","clientId":"…"}]';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export const VARIABLES = {
  PORT: variable(LISTENING, port(), { default: 4000, meaning: 'the port it listens on; 0 takes any free one' }),
  HOST: variable(LISTENING, text(/^[A-Za-z0-9._:[\]-]{1,255}$/, 'a host name or an address'), {
    perRole: { standalone: '127.0.0.1', api: '0.0.0.0', gateway: '0.0.0.0' },
    meaning: 'the address it listens on',
  }),
  PUBLIC_URL: variable(
    LISTENING,
    { kind: 'url', accepts: PUBLIC_URL_RULE, parse: publicUrl },
    {
      derived: {
        text: '`http://localhost:$PORT`',
        from: ({ earlier }) => `http://localhost:${earlier<number>('PORT')}`,
      },
      meaning:
        'the address that people and daemons use; every link, and the audience `$PUBLIC_URL/api`, derive from it. The roles `api` and `gateway` refuse http, except on this machine',
    },
  ),
  ALLOWED_ORIGINS: variable(LISTENING, list(origin, 'a comma list of origins'), {
    default: [],
    readBy: ['standalone', 'api'],
    meaning: 'origins of browser apps, besides `PUBLIC_URL`, that may call the API and open `/ws/attention`',
  }),
  TRUST_PROXY: variable<TrustProxy>(
    LISTENING,
    { kind: 'list', accepts: TRUST_PROXY_RULE, parse: trustProxy },
    {
      derived: { text: 'none', from: () => false },
      meaning: 'how many proxies, or which networks, are believed when they say whose request they forward',
    },
  ),

  DATA_DIR: variable(MEMORY, path(), {
    derived: { text: '`./data`', from: () => defaultDataDir() },
    readBy: ['standalone'],
    meaning: 'folder of the embedded database and of generated secrets (mode 700)',
  }),
  DATABASE_URL: variable(MEMORY, url(['postgres', 'postgresql'], { secret: true }), {
    derived: { text: 'embedded', from: () => undefined },
    meaning: 'PostgreSQL; required by the roles `api` and `gateway`, which share one database',
  }),
  REDIS_URL: variable<string | undefined>(MEMORY, redisUrl(), {
    derived: { text: 'none', from: () => undefined },
    meaning:
      'Redis 7 between several instances; required by the roles `api` and `gateway`. `redis://[user:password@]host:6379[/db]`; `redis+sentinel://host:26379,host:26379/master` finds the server through Sentinel (`?sentinelUsername=`, `?sentinelPassword=`); `redis+cluster://host:6379,host:6379` is a Cluster; `rediss` instead of `redis` is TLS',
  }),

  AUTH_BUILTIN: variable(IDENTITY, onOff(), {
    default: true,
    readBy: ['standalone', 'api'],
    meaning:
      'the built-in sign-in: accounts with e-mail and password, and OAuth 2.1 for apps, under `/auth`. Needs a `PUBLIC_URL` that is https, or of this machine',
  }),
  AUTH_ISSUERS: variable<readonly IssuerSettings[]>(IDENTITY, json(issuers, ISSUERS_RULE), {
    default: [],
    readBy: ['standalone', 'api'],
    meaning:
      'sign-in services whose tokens are accepted: `issuer`, `audience`, and optionally `jwksUri`, `algorithms`, `scopeClaim`, `roleMap`, `defaultScopes`',
  }),
  AUTH_DEV_ISSUER: variable(IDENTITY, onOff(), {
    derived: {
      text: '`on` (standalone, if `AUTH_BUILTIN` is off, `AUTH_ISSUERS` is absent and `HOST` is of this machine only), else `off`',
      from: ({ role, earlier }) =>
        role === 'standalone' &&
        !earlier<boolean>('AUTH_BUILTIN') &&
        earlier<readonly IssuerSettings[]>('AUTH_ISSUERS').length === 0 &&
        isLoopback(earlier<string>('HOST')),
    },
    readBy: ['standalone'],
    meaning:
      'accepts the tokens that `npm run dev:token` makes with a key in `DATA_DIR`: for trying things out on one machine',
  }),
  AUTH_SIGNUP: variable(IDENTITY, oneOf('invite', 'open', 'closed'), {
    default: 'invite',
    readBy: ['standalone', 'api'],
    meaning:
      'who may create an account with the built-in sign-in: people with a link from somebody who has one, everybody, or nobody. The first account is always created by the link that the start prints',
  }),
  AUTH_UPSTREAM: variable<readonly UpstreamSettings[]>(IDENTITY, json(upstreams, UPSTREAM_RULE, { secret: true }), {
    default: [],
    readBy: ['standalone', 'api'],
    meaning:
      'services that people may sign in with instead of a password: `provider` (`github`, `google`, `oidc`), `clientId`, `clientSecret`, and optionally `id`, `name`; for `oidc` also `issuer`, for GitHub Enterprise `address`. Their redirect address is `$PUBLIC_URL/auth/callback/<id>`. `AUTH_SIGNUP` holds for them too',
  }),
  AUTH_SECRET: variable(IDENTITY, secrets(SECRETS_RULE), {
    derived: { text: 'generated into `DATA_DIR` (standalone), required otherwise', from: () => [] },
    readBy: ['standalone', 'api'],
    meaning: 'secrets of the built-in sign-in; the first signs, the others still verify',
  }),

  DAEMON_VERSIONS: variable<DaemonVersions>(POLICY, json(daemonVersions, VERSIONS_RULE), {
    derived: { text: 'no policy', from: () => ({}) },
    readBy: ['standalone', 'gateway'],
    meaning: 'what daemons are told about their version, by agent type',
  }),

  METRICS_PORT: variable(OPERATION, port(), {
    default: 9464,
    meaning: 'port of `/metrics`, separate from the public one; 0 turns it off',
  }),
  LOG_LEVEL: variable<LogLevel>(OPERATION, oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    default: 'info',
    meaning: 'the least important line that is logged',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(OPERATION, url(['http', 'https'], { secret: true }), {
    derived: { text: 'off', from: () => undefined },
    meaning: 'where traces are sent: a collector that takes OTLP over HTTP as JSON, at `/v1/traces` below this address',
  }),
  INSTANCE_NAME: variable(OPERATION, text(/^[A-Za-z0-9._-]{1,128}$/, 'a name of letters, digits, dots, dashes'), {
    derived: { text: 'host name', from: ({ hostName }) => hostName },
    meaning: 'shown in metrics, logs and diagnostics',
  }),
  DRAIN_SECONDS: variable(OPERATION, int({ min: 0, max: 3600, unit: 'seconds' }), {
    perRole: { standalone: 2, api: 30, gateway: 30 },
    meaning:
      'over how long the closing of connections is spread on SIGTERM; an api stays for the first 3 s of it in any case, until the edge has noticed',
  }),

  ...LIMITS,
  ...TIMINGS,
};

function defaultDataDir(): string {
  const parsed = path().parse('./data');
  if ('expected' in parsed) throw new TypeError('the default of DATA_DIR is not a path');
  return parsed.value;
}
