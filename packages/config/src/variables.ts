/**
 * The table of the environment: every variable, once. The typed configuration and docs/configuration.md derive from it.
 * A default can use only variables above its own line.
 */
import {
  type TrustProxy,
  publicUrlRule,
  trustProxyRule,
  publicUrl,
  isLoopback,
  trustProxy,
  origin,
  contact,
  contactRule,
  hostAndPort,
  operatorContact,
  operatorRule,
  serviceUrl,
  vapidKeys,
} from './addresses.ts';
import { type DaemonVersions, daemonVersions } from './daemon-versions.ts';
import { type IssuerSettings, issuers } from './issuers.ts';
import {
  int,
  json,
  list,
  maxTimerMs,
  oneOf,
  onOff,
  path,
  port,
  redisUrl,
  secrets,
  share,
  text,
  url,
  variable,
} from './kinds.ts';
import { limits } from './limits.ts';
import { type UpstreamSettings, upstreams } from './upstreams.ts';

const listening = 'Where it listens';
const memory = 'Storage';
const identity = 'Sign-in';
const notifying = 'Notifications';
const policy = 'Daemons';
const operation = 'Operation';

const secretsRule = 'a comma list of secrets of at least 32 characters each';
const versionsRule =
  'a JSON object such as {"claude_code":{"min":"1.2.0","recommended":"1.4.0","latest":"1.5.0","changelogUrl":"https://…"}}';
const issuersRule =
  'a JSON list such as [{"issuer":"https://id.example.com","audience":"https://relay.example.com/api"}]';
const upstreamRule =
  'a JSON list such as [{"provider":"github","clientId":"…","clientSecret":"…"},{"provider":"oidc","id":"corp","issuer":"https://id.example.com","clientId":"…"}]';

/** A variable that no gateway reads. */
const appVariable: typeof variable = (group, shape, facts) =>
  variable(group, shape, { ...facts, readBy: ['standalone', 'api'] });

type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export const variables = {
  PORT: variable(listening, port(), { default: 4000, meaning: 'the port it listens on; 0 picks any free port' }),
  HOST: variable(listening, text(/^[A-Za-z0-9._:[\]-]{1,255}$/, 'a host name or an address'), {
    perRole: { standalone: '127.0.0.1', api: '0.0.0.0', gateway: '0.0.0.0' },
    meaning: 'the address it listens on',
  }),
  PUBLIC_URL: variable(
    listening,
    { kind: 'url', accepts: publicUrlRule, parse: publicUrl },
    {
      derived: {
        text: '`http://localhost:$PORT`',
        from: ({ earlier }) => `http://localhost:${earlier<number>('PORT')}`,
      },
      meaning:
        'the address that people and daemons use. The relay derives every link and the audience `$PUBLIC_URL/api` from it. The roles `api` and `gateway` refuse http, except on this machine',
    },
  ),
  ALLOWED_ORIGINS: appVariable(listening, list(origin, 'a comma list of origins'), {
    default: [],
    meaning: 'origins of browser apps, in addition to `PUBLIC_URL`, that can call the API and open `/ws/attention`',
  }),
  TRUST_PROXY: variable<TrustProxy>(
    listening,
    { kind: 'list', accepts: trustProxyRule, parse: trustProxy },
    {
      derived: { text: 'none', from: () => false },
      meaning: 'the number of proxies, or their networks, that the relay trusts to report the address of a client',
    },
  ),

  DATA_DIR: variable(memory, path(), {
    derived: { text: '`./data`', from: () => defaultDataDir() },
    readBy: ['standalone'],
    meaning: 'folder of the embedded database and of generated secrets (mode 700)',
  }),
  DATA_SYNC: variable(memory, onOff(), {
    default: true,
    readBy: ['standalone'],
    meaning:
      'the embedded database writes each commit to the disk before the relay answers, so that a power cut loses nothing. With `off` it is faster, but a power cut can lose the last seconds or the whole database',
  }),
  DATABASE_URL: variable(memory, url(['postgres', 'postgresql'], { secret: true }), {
    derived: { text: 'embedded', from: () => undefined },
    meaning: 'address of PostgreSQL; required by the roles `api` and `gateway`, which share one database',
  }),
  DATABASE_PREPARE: variable(memory, onOff(), {
    default: true,
    meaning:
      'PostgreSQL prepares statements once per connection. Set it to `off` if a pooler in transaction mode does not keep them, such as PgBouncer before 1.21',
  }),
  REDIS_URL: variable<string | undefined>(memory, redisUrl(), {
    meaning:
      'address of Redis 7, which connects several instances; required by the roles `api` and `gateway`. `redis://[user:password@]host:6379[/db]`; `redis+sentinel://host:26379,host:26379/master` finds the server through Sentinel (`?sentinelUsername=`, `?sentinelPassword=`); `redis+cluster://host:6379,host:6379` is a Cluster; `rediss` instead of `redis` uses TLS',
  }),

  AUTH_BUILTIN: appVariable(identity, onOff(), {
    default: true,
    meaning:
      'the built-in sign-in: accounts with e-mail and password, and OAuth 2.1 for apps, under `/auth`. Requires a `PUBLIC_URL` that is https or points to this machine',
  }),
  AUTH_ISSUERS: appVariable<readonly IssuerSettings[]>(identity, json(issuers, issuersRule), {
    default: [],
    meaning:
      'sign-in services whose tokens the relay accepts: `issuer`, `audience`, and optionally `jwksUri`, `algorithms`, `scopeClaim`, `roleMap`, `defaultScopes`',
  }),
  AUTH_DEV_ISSUER: variable(identity, onOff(), {
    derived: {
      text: '`on` (standalone, if `AUTH_BUILTIN` is off, `AUTH_ISSUERS` is absent and `HOST` is a loopback address), else `off`',
      from: ({ role, earlier }) =>
        role === 'standalone' &&
        !earlier<boolean>('AUTH_BUILTIN') &&
        earlier<readonly IssuerSettings[]>('AUTH_ISSUERS').length === 0 &&
        isLoopback(earlier<string>('HOST')),
    },
    readBy: ['standalone'],
    meaning:
      'accepts the tokens that `npm run dev:token` creates with a key in `DATA_DIR`, for experiments on one machine',
  }),
  AUTH_SIGNUP: appVariable(identity, oneOf('invite', 'open', 'closed'), {
    default: 'invite',
    meaning:
      'who can create an account with the built-in sign-in: people with a link from an existing account, everyone, or no one. The first account is always created with the link that the relay prints when it starts',
  }),
  OPERATOR_CONTACT: appVariable<string | undefined>(
    identity,
    { kind: 'url', accepts: operatorRule, parse: operatorContact },
    {
      meaning: 'a `mailto:` or https address of the operator, which the sign-in shows to people without their password',
    },
  ),
  AUTH_UPSTREAM: appVariable<readonly UpstreamSettings[]>(identity, json(upstreams, upstreamRule, { secret: true }), {
    default: [],
    meaning:
      'services that people can sign in with instead of a password: `provider` (`github`, `google`, `oidc`), `clientId`, `clientSecret`, and optionally `id`, `name`; for `oidc` also `issuer`, for GitHub Enterprise `address`. Their redirect address is `$PUBLIC_URL/auth/callback/<id>`. `AUTH_SIGNUP` applies to them too',
  }),
  AUTH_SECRET: appVariable(identity, secrets(secretsRule), {
    derived: { text: 'generated into `DATA_DIR` (standalone), required otherwise', from: () => [] },
    meaning: 'secrets of the built-in sign-in; the first signs and encrypts, the others still verify and decrypt',
  }),

  PUSH_SECRET: appVariable(notifying, secrets(secretsRule), {
    derived: { text: '`AUTH_SECRET`', from: ({ earlier }) => earlier<readonly string[]>('AUTH_SECRET') },
    meaning:
      'secrets that encrypt the notification addresses of people; the first encrypts, all decrypt. If it and `AUTH_SECRET` are absent, the relay sends nothing to addresses',
  }),
  PUSH_CONTACT: appVariable<string | undefined>(
    notifying,
    { kind: 'url', accepts: contactRule, parse: contact },
    {
      derived: { text: '`$PUBLIC_URL`', from: () => undefined },
      meaning: 'how push services of browsers reach the operator: a `mailto:` or https address (RFC 8292)',
    },
  ),
  PUSH_ALLOWED_HOSTS: appVariable(
    notifying,
    list(hostAndPort, 'a comma list of hosts with a port, such as ntfy.internal:8080'),
    {
      default: [],
      meaning:
        'hosts that are allowed in notification addresses although they are not public or not https: exact names, each with its port',
    },
  ),

  FCM_SERVICE_ACCOUNT_FILE: appVariable<string | undefined>(notifying, path(), {
    meaning: 'the JSON file of a service account of Firebase, for notifications of Android apps (kind `fcm`)',
  }),
  FCM_URL: appVariable(notifying, serviceUrl, {
    default: 'https://fcm.googleapis.com',
    meaning: 'the address of Firebase Cloud Messaging',
  }),
  APNS_KEY_FILE: appVariable<string | undefined>(notifying, path(), {
    meaning: 'the `.p8` file of a key of Apple, for notifications of iOS apps (kind `apns`)',
  }),
  APNS_KEY_ID: appVariable<string | undefined>(notifying, text(/^[A-Z0-9]{10}$/, 'ten capitals and digits'), {
    meaning: 'the id of the key in `APNS_KEY_FILE`',
  }),
  APNS_TEAM_ID: appVariable<string | undefined>(notifying, text(/^[A-Z0-9]{10}$/, 'ten capitals and digits'), {
    meaning: 'the id of the team that the key belongs to',
  }),
  APNS_TOPIC: appVariable<string | undefined>(notifying, text(/^[A-Za-z0-9.-]{1,255}$/, 'the bundle id of an app'), {
    meaning: 'the bundle id of the app, such as `com.example.relay`',
  }),
  APNS_URL: appVariable(notifying, serviceUrl, {
    default: 'https://api.push.apple.com',
    meaning:
      'the address to which the relay sends notifications for Apple; `https://api.sandbox.push.apple.com` for development builds',
  }),
  VAPID_PRIVATE_KEY: appVariable<readonly string[]>(notifying, vapidKeys, {
    default: [],
    meaning:
      'keys that identify this relay to push services of browsers, instead of its generated key: new browsers get the first key, the others still work for browsers that got them earlier',
  }),

  DAEMON_VERSIONS: variable<DaemonVersions>(policy, json(daemonVersions, versionsRule), {
    derived: { text: 'no policy', from: () => ({}) },
    readBy: ['standalone', 'gateway'],
    meaning: 'the version policy for daemons, by agent type',
  }),

  BOUND_APPROVALS: appVariable<'off' | 'required'>(policy, oneOf('off', 'required'), {
    default: 'required',
    meaning:
      '`required`: while a permission is open, the relay refuses a message that names no question with 409 `PROMPT_REFERENCE_REQUIRED`; `off`: the message answers the oldest question, which its sender has possibly not seen',
  }),

  METRICS_PORT: variable(operation, port(), {
    default: 9464,
    meaning: 'port of `/metrics`, separate from the public one; 0 turns it off',
  }),
  LOG_LEVEL: variable<LogLevel>(operation, oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    default: 'info',
    meaning: 'the lowest level of lines in the log',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(operation, url(['http', 'https'], { secret: true }), {
    derived: { text: 'off', from: () => undefined },
    meaning:
      'where the relay sends traces: a collector that accepts OTLP over HTTP as JSON, at `/v1/traces` below this address',
  }),
  OTEL_TRACES_SAMPLER_ARG: variable(operation, share(), {
    default: 1,
    meaning:
      'the share of traces to send, if they begin in the relay; a caller that sends `traceparent` decides itself (`parentbased_traceidratio`)',
  }),
  INSTANCE_NAME: variable(operation, text(/^[A-Za-z0-9._-]{1,128}$/, 'a name of letters, digits, dots, dashes'), {
    derived: { text: 'host name', from: ({ hostName }) => hostName },
    meaning: 'name of the instance in metrics, logs and diagnostics',
  }),
  STARTUP_TIMEOUT_SECONDS: variable(operation, int({ min: 0, max: 86_400, unit: 'seconds' }), {
    default: 120,
    meaning:
      'how long a starting instance retries PostgreSQL and Redis, with growing pauses; `/ready` names the missing service. 0: the instance stops if one of them does not answer',
  }),
  DRAIN_SECONDS: variable(operation, int({ min: 0, max: 3600, unit: 'seconds' }), {
    perRole: { standalone: 2, api: 30, gateway: 30 },
    meaning:
      'the time over which an instance closes its connections after SIGTERM; an api closes none in the first 3 s, until the edge has noticed',
  }),
  PING_INTERVAL_MS: variable(operation, int({ min: 1, max: maxTimerMs, unit: 'milliseconds' }), {
    default: 30_000,
    meaning: 'how often the relay pings a live socket; shorter than the idle timeout of every proxy on the way',
  }),
  QUEUE_TTL_DEFAULT_SECONDS: variable(operation, int({ min: 0, max: 86_400, unit: 'seconds' }), {
    default: 900,
    meaning: 'how long a message waits for an offline device, unless the request says otherwise',
  }),

  ...limits,
};

function defaultDataDir(): string {
  const parsed = path().parse('./data');
  if ('expected' in parsed) throw new TypeError('the default of DATA_DIR is not a path');
  return parsed.value;
}
