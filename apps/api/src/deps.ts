/** The dependencies of an api. It keeps no state outside of the objects that `createApi` makes from them. */
import type { DeviceVerifier, JwtVerifier } from '@relay/auth';
import type { Publisher } from '@relay/attention';
import type { Command } from '@relay/protocol';
import type { Backplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import type { Database, Listing, NamedSession, SessionPageQuery, SessionPlace } from '@relay/database';
import type { Identity } from './identity/identity.ts';
import type { Transport } from './notify/outbox.ts';
import type { Logger, Metrics, ReadinessProbe, Tracer } from '@relay/telemetry';
import type { WebOptions } from './web.ts';

export interface ApiDeps {
  config: RelayConfig;
  database: Database;
  backplane: Backplane;
  jwtVerifier: JwtVerifier;
  deviceVerifier: DeviceVerifier;
  readiness: ReadinessProbe;
  logger: Logger;
  metrics: Metrics;
  /** Absent: no traces. */
  tracer?: Tracer | undefined;
  version: string;
  /** The built-in sign-in, if this relay has it; `jwtVerifier` then trusts its issuer. */
  identity?: Identity | undefined;
  /** Shows the operator a one-time text that belongs in no log. Absent: it is not shown. */
  announce?: ((line: string) => void) | undefined;
  /** The built pages, if this relay serves them. */
  web?: Omit<WebOptions, 'publicUrl'> | undefined;
  /** The built documents, if this relay serves them. */
  docs?: { directory: string } | undefined;
  /** The package of the daemon, to be served. Absent: it is not. */
  downloads?: { daemon: string } | undefined;
  /** How people are notified outside the apps. Absent: in the log alone. */
  transports?: readonly Transport[] | undefined;
}

/** The dependencies of operations: the same for every request. */
export interface Operations extends ApiDeps {
  publisher: Publisher;
  /**
   * Finds a session; the sessions of many requests are looked up together (ADR 71). Undefined if its owner has no such session.
   */
  findPlace(named: NamedSession): Promise<SessionPlace | undefined>;
  /** A page of sessions, as `listSessions`; pages of many requests are read together. */
  findPage(query: SessionPageQuery): Promise<Listing | undefined>;
  /** Sends a command to the instance that owns the device, without waiting for anything. */
  sendCommand(deviceId: string, command: Command): void;
}
