/**
 * LIFE of a daemon's connection (rules, 9.3): its phase, limits, decoding, keepalive and close. Knows nothing about tasks or sessions. The
 * socket keeps the order of its frames, `frame-handler.ts` decides whether they count.
 */
import {
  type Capability,
  type CloseReason,
  type DeviceAgent,
  type FromDaemonFrame,
  type ToDaemonFrame,
  closeCodes,
  decodeDaemonFrame,
  tooManyEntries,
} from '@relay/protocol';
import type { RelayConfig } from '@relay/config';
import {
  type Heartbeat,
  type HeartbeatPeer,
  Heartbeats,
  type Socket,
  type TokenBucket,
  type TokenBucketOptions,
  createTokenBucket,
  doorHeartbeat,
} from '@relay/socket';
import type { Logger } from '@relay/telemetry';
import { DeviceSessions } from './device-sessions.ts';
import { Evidence } from './evidence.ts';
import type { GatewayMetrics } from './metrics.ts';
import { NewestReport } from './newest-report.ts';
import { OpenTasks } from './open-tasks.ts';
import { Requests } from './requests.ts';

export interface Peer {
  deviceId: string;
  ownerId: string;
  agentType: string;
  daemonVersion: string;
  /** Its declared capabilities: names in lower case. */
  capabilities: readonly string[];
  /** Its declared agents. */
  agents: readonly DeviceAgent[];
  /** Host name, if the daemon sends it, and address: for people, and to distinguish machines with one credential. */
  hostname: string;
  address: string;
}

/** The dependencies that all connections of a gateway share. */
export interface ConnectionDeps {
  readonly config: RelayConfig;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  readonly heartbeats: Heartbeats;
  readonly frameRate: TokenBucketOptions;
}

export function connectionDeps(config: RelayConfig, metrics: GatewayMetrics, logger: Logger): ConnectionDeps {
  return {
    config,
    metrics,
    logger,
    heartbeats: new Heartbeats(doorHeartbeat(config.pingIntervalMs, config.silenceTimeoutMs)),
    frameRate: { ratePerSecond: config.framesPerSecond, burst: config.frameBurst },
  };
}

const malformedAllowed = 2;
/** Between two lines about frames of one connection that were dropped. */
const droppedLineMs = 60_000;

/**
 * - arriving: the gateway claims its device; frames wait.
 * - claimed: the device is ours under `fence`, but not online yet; frames wait.
 * - live: frames count, the gateway accepts commands and writes frames and tasks.
 * - leaving: this instance sent 1001 and waits for the answer. Frames that the daemon sent before it count; nothing is
 *   written.
 * - ended: closed for another reason, or the socket closed. Nothing counts, nothing is written.
 */
type Phase = 'arriving' | 'claimed' | 'live' | 'leaving' | 'ended';

/** A decoded frame, and the text it was decoded from. */
export type Received<F extends FromDaemonFrame = FromDaemonFrame> = F & { readonly written: string };

/** The frames of a silent daemon. */
const ping = JSON.stringify({ type: 'ping' } satisfies ToDaemonFrame);
const pong = JSON.stringify({ type: 'pong' } satisfies FromDaemonFrame);

/** There are thousands of these, and most are idle: rare state is allocated when it is needed. */
export class DaemonConnection implements HeartbeatPeer {
  readonly id: string;
  readonly deviceId: string;
  readonly ownerId: string;
  readonly agentType: string;
  readonly daemonVersion: string;
  readonly capabilities: readonly string[];
  readonly agents: readonly DeviceAgent[];
  readonly hostname: string;
  readonly address: string;
  readonly tasks = new OpenTasks();
  readonly sessions = new DeviceSessions(this.tasks);
  readonly report = new NewestReport();
  readonly evidence = new Evidence(this.tasks);
  readonly requests = new Requests();
  /** Frames wait for this promise, which settles once it is clear whether they count. Never rejects. */
  beginning: Promise<void> | undefined;

  #phase: Phase = 'arriving';
  #fence = 0;
  readonly #socket: Socket;
  readonly #shared: ConnectionDeps;
  readonly #bucket: TokenBucket;
  #logger: Logger | undefined;
  #heartbeat: Heartbeat | undefined;
  #malformedAtMs: number[] | undefined;
  /** When dropped frames were last logged, and how many were dropped since. */
  #droppedFrames: { atMs: number; count: number } | undefined;
  #warned: Set<string> | undefined;
  /** When the newest ping left, until it is answered. */
  #pingedAtMs: number | undefined;

  constructor(id: string, peer: Peer, socket: Socket, shared: ConnectionDeps) {
    this.id = id;
    this.deviceId = peer.deviceId;
    this.ownerId = peer.ownerId;
    this.agentType = peer.agentType;
    this.daemonVersion = peer.daemonVersion;
    this.capabilities = peer.capabilities;
    this.agents = peer.agents;
    this.hostname = peer.hostname;
    this.address = peer.address;
    this.#socket = socket;
    this.#shared = shared;
    this.#bucket = createTokenBucket(shared.frameRate);
  }

  get logger(): Logger {
    return (this.#logger ??= this.#shared.logger.child({ deviceId: this.deviceId, connectionId: this.id }));
  }

  get lastInboundAt(): number {
    return this.#socket.lastInboundAt;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The number of its claim on the device; 0 before it. */
  get fence(): number {
    return this.#fence;
  }

  /** Neither side has begun to close the socket. */
  get open(): boolean {
    return this.#socket.state === 'live';
  }

  /** Commands are accepted, and frames and tasks are written. */
  get live(): boolean {
    return this.#phase === 'live' && this.open;
  }

  /** Whether its frames count, once `beginning` is over. */
  get acceptsFrames(): boolean {
    return this.#phase === 'live' || this.#phase === 'leaving';
  }

  /** The device is ours. */
  claimed(fence: number): void {
    this.#fence = fence;
    if (this.#phase === 'arriving') this.#phase = 'claimed';
  }

  /** The device is online. From now on the gateway pings the daemon and closes a silent connection. */
  online(): void {
    if (this.#phase === 'claimed' && this.open) this.#phase = 'live';
    this.#heartbeat = this.#shared.heartbeats.start(this);
  }

  /** Called by the heartbeat. */
  ping(): void {
    if (this.#socket.send(ping)) this.#pingedAtMs = performance.now();
  }

  /** Called by the heartbeat. */
  onSilence(): void {
    this.close('heartbeat');
    this.#socket.terminate();
  }

  /** Counts a frame that need not be decoded. False: there were too many a second, and the connection is closed. */
  countUndecoded(type: FromDaemonFrame['type']): boolean {
    if (!this.#bucket.take()) {
      this.close('tooMany');
      return false;
    }
    this.#shared.metrics.frames.inc({ type });
    return true;
  }

  /** Counts a pong that answers no request, without decoding it. False: another frame. */
  takesPong(text: string): boolean {
    if (text !== pong || this.requests.size > 0) return false;
    if (this.countUndecoded('pong')) this.#countRoundTrip();
    return true;
  }

  /**
   * Decodes one frame; returns undefined and counts it if it must be ignored. Closes the connection at the third
   * malformed frame within a minute, or at too many frames a second.
   */
  decode(text: string): Received | undefined {
    if (!this.#bucket.take()) {
      this.close('tooMany');
      return undefined;
    }
    const decoded = decodeDaemonFrame(text);
    if (decoded.kind === 'frame') {
      this.#shared.metrics.frames.inc({ type: decoded.frame.type });
      if (decoded.frame.type === 'pong') this.#countRoundTrip();
      if (decoded.dropped.length > 0) {
        const cause = decoded.frame.type === 'messages' ? 'message' : 'report entry';
        this.#shared.metrics.ignored.inc({ cause }, decoded.dropped.length);
        this.logger.debug({ dropped: decoded.dropped.slice(0, 5) }, 'report entries left out');
        if (decoded.dropped.at(-1) === tooManyEntries)
          this.warnOnce(`a report has ${tooManyEntries}: older ones are left out`, { leftOut: decoded.dropped.length });
      }
      if (decoded.shortened !== undefined) this.#shared.metrics.ignored.inc({ cause: 'too long' }, decoded.shortened);
      return Object.assign(decoded.frame, { written: text });
    }
    this.#shared.metrics.ignored.inc({ cause: decoded.kind });
    if (decoded.kind === 'invalid') this.#warnOfDropped(decoded.reason);
    else this.logger.debug({ reason: decoded.reason }, `${decoded.kind} frame`);
    if (decoded.kind === 'malformed') this.#countMalformed();
    return undefined;
  }

  /** Logs a text at its first time: a report, for instance, comes every 30 s. */
  warnOnce(text: string, fields: object = {}): void {
    this.#warned ??= new Set();
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.logger.warn(fields, text);
  }

  /** A frame that the relay cannot take is lost: the first at once, then one line a minute. */
  #warnOfDropped(reason: string): void {
    const now = Date.now();
    const { atMs, count } = (this.#droppedFrames ??= { atMs: -Infinity, count: 0 });
    this.#droppedFrames.count = count + 1;
    if (now - atMs < droppedLineMs) return;
    this.logger.warn({ reason, frames: count + 1 }, 'a frame with wrong fields was dropped');
    this.#droppedFrames = { atMs: now, count: 0 };
  }

  #countRoundTrip(): void {
    if (this.#pingedAtMs === undefined) return;
    this.#shared.metrics.pings.observe((performance.now() - this.#pingedAtMs) / 1000);
    this.#pingedAtMs = undefined;
  }

  #countMalformed(): void {
    const now = Date.now();
    const recent = (this.#malformedAtMs ?? []).filter((at) => now - at < this.#shared.config.malformedWindowMs);
    this.#malformedAtMs = recent;
    if (recent.push(now) > malformedAllowed) this.close('malformed');
  }

  can(capability: Capability): boolean {
    return this.capabilities.includes(capability);
  }

  /** Whether this agent can work in its sessions: it is the agent of the registration, or the daemon declared it. */
  offers(agentType: string): boolean {
    return agentType === this.agentType || this.agents.some((agent) => agent.agentType === agentType);
  }

  /** Writes a frame. False when the socket is closing: then no part of it was written. */
  send(frame: ToDaemonFrame): boolean {
    return this.#socket.send(JSON.stringify(frame));
  }

  /** Resolves when the daemon has read nearly all written bytes, or the socket closes. */
  async drained(): Promise<void> {
    await this.#socket.drained();
  }

  /**
   * Writes nothing to the daemon from now on. `goingAway` does not blame the daemon: its frames count until it receives
   * the close, because it does not repeat them. The same holds for `replaced` if the daemon has left already, or is
   * leaving, and is back: its earlier frames still count (rules, 3.13). Any other reason closes the connection.
   */
  close(why: CloseReason): void {
    const { code, reason } = closeCodes[why];
    if (why === 'replaced' && this.acceptsFrames && !this.open) return;
    if (why !== 'goingAway') {
      this.#phase = 'ended';
      this.#socket.close(code, reason);
    } else if (this.open) {
      this.#phase = 'leaving';
      this.#socket.leave(code, reason);
    }
  }

  /** Called when the socket has closed. */
  ended(): void {
    this.#phase = 'ended';
    this.#heartbeat?.stop();
    this.sessions.clear();
    this.requests.clear();
  }
}
