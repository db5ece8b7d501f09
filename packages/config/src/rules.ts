/** Rules between variables. Every rule sees values that are valid on their own. */
import { isLoopback } from './addresses.ts';
import type { RelayConfig, VariableName } from './relay-config.ts';

interface BrokenRule {
  /** The variables that the rule checks; the first is the one to change. */
  readonly about: readonly [VariableName, ...VariableName[]];
  readonly message: string;
}

const singleProcess = 'run the single process (npm start)';

function severalInstances(config: RelayConfig): BrokenRule[] {
  const broken: BrokenRule[] = [];
  if (config.role === 'standalone') {
    if (config.redisUrl === undefined) return broken;
    const message =
      'REDIS_URL is set, but the single process has no other instances to talk to; remove it, or run several instances (npm run api, npm run gateway).';
    return [{ about: ['REDIS_URL'], message }];
  }
  if (config.redisUrl === undefined) {
    const message = `REDIS_URL is missing; the role ${config.role} is one of several instances and they talk through Redis. Without Redis, ${singleProcess}.`;
    broken.push({ about: ['REDIS_URL'], message });
  }
  if (config.databaseUrl === undefined) {
    const message = `DATABASE_URL is missing; the role ${config.role} shares one PostgreSQL with the other instances. It must be an address that begins with postgres:// or postgresql://.`;
    broken.push({ about: ['DATABASE_URL'], message });
  }
  return broken;
}

/** Safe from eavesdropping: https, or an address that only this machine can reach. */
function isPrivate(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'https:' || isLoopback(hostname);
}

/** Credentials of daemons and apps travel to it with every connection, for any sign-in service. */
function transport(config: RelayConfig): BrokenRule[] {
  if (config.role === 'standalone' || isPrivate(config.publicUrl)) return [];
  const message = `PUBLIC_URL is "${config.publicUrl}", where the credentials of daemons and apps would travel in the clear; for the role ${config.role} it must be https (or http on this machine), with TLS at the load balancer.`;
  return [{ about: ['PUBLIC_URL'], message }];
}

function signIn(config: RelayConfig): BrokenRule[] {
  const broken: BrokenRule[] = [];
  const takesUsers = config.role !== 'gateway';
  // Several instances refuse it in any case.
  if (config.role === 'standalone' && config.authBuiltin && !isPrivate(config.publicUrl)) {
    const message = `PUBLIC_URL is "${config.publicUrl}", where passwords would travel in the clear; with the built-in sign-in it must be https (or http on this machine). Or set AUTH_BUILTIN to off.`;
    broken.push({ about: ['PUBLIC_URL', 'AUTH_BUILTIN'], message });
  }
  if (config.role === 'api' && config.authBuiltin && config.authSecret.length === 0) {
    const message =
      'AUTH_SECRET is missing; instances with the built-in sign-in share it. It must be a random text of at least 32 characters, or a comma list of them.';
    broken.push({ about: ['AUTH_SECRET', 'AUTH_BUILTIN'], message });
  }
  if (takesUsers && !config.authBuiltin && config.authUpstream.length > 0) {
    const message =
      'AUTH_UPSTREAM is set, but AUTH_BUILTIN is "off"; those services are reached through the built-in sign-in. Set it to on, or name them in AUTH_ISSUERS.';
    broken.push({ about: ['AUTH_UPSTREAM', 'AUTH_BUILTIN'], message });
  }
  if (config.role !== 'standalone' && config.authDevIssuer) {
    const message = `AUTH_DEV_ISSUER is "on", but its key belongs to one process and the role ${config.role} is one of several; it must be off.`;
    broken.push({ about: ['AUTH_DEV_ISSUER'], message });
  }
  if (takesUsers && config.authIssuers.length === 0 && !config.authDevIssuer && !config.authBuiltin) {
    const alternative = config.role === 'standalone' ? ', or AUTH_DEV_ISSUER to on to try the relay out' : '';
    const message = `AUTH_BUILTIN is "off", AUTH_ISSUERS is missing, so no one could sign in; set AUTH_ISSUERS to a list such as [{"issuer":"https://id.example.com","audience":"${config.publicUrl}/api"}]${alternative}.`;
    broken.push({ about: ['AUTH_ISSUERS', 'AUTH_BUILTIN', 'AUTH_DEV_ISSUER', 'HOST'], message });
  }
  return broken;
}

function numbers(config: RelayConfig): BrokenRule[] {
  const broken: BrokenRule[] = [];
  const { pingIntervalMs, silenceTimeoutMs, framesPerSecond, frameBurst } = config;
  if (pingIntervalMs >= silenceTimeoutMs) {
    const message = `PING_INTERVAL_MS is "${pingIntervalMs}"; it must be less than ${silenceTimeoutMs}, or quiet sockets are closed before they are asked.`;
    broken.push({ about: ['PING_INTERVAL_MS'], message });
  }
  if (frameBurst < framesPerSecond) {
    const message = `FRAME_BURST is "${frameBurst}"; it must be at least FRAMES_PER_SECOND (${framesPerSecond}).`;
    broken.push({ about: ['FRAME_BURST', 'FRAMES_PER_SECOND'], message });
  }
  if (config.metricsPort !== 0 && config.metricsPort === config.port) {
    const message = `METRICS_PORT is "${config.metricsPort}"; it must differ from PORT, or be 0.`;
    broken.push({ about: ['METRICS_PORT', 'PORT'], message });
  }
  return broken;
}

function apps(config: RelayConfig): BrokenRule[] {
  const given = {
    APNS_KEY_FILE: config.apnsKeyFile,
    APNS_KEY_ID: config.apnsKeyId,
    APNS_TEAM_ID: config.apnsTeamId,
    APNS_TOPIC: config.apnsTopic,
  };
  const names = Object.keys(given) as (keyof typeof given)[];
  const absent = names.filter((name) => given[name] === undefined);
  const [first] = absent;
  if (first === undefined || absent.length === names.length) return [];
  const message = `${absent.join(', ')} ${absent.length === 1 ? 'is' : 'are'} missing; apps on iOS need all of ${names.join(', ')}, or none.`;
  return [{ about: [first, ...names.filter((name) => name !== first)], message }];
}

/** Every rule that `config` breaks, in the order of the table's groups. */
export function brokenRules(config: RelayConfig): BrokenRule[] {
  return [...severalInstances(config), ...transport(config), ...signIn(config), ...apps(config), ...numbers(config)];
}
