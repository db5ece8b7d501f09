/**
 * LIFE of a daemon's connection (contract §5): one frame at a time and in order, keepalive, limits, and an end that is
 * reported once. Has never heard of tasks or sessions; what frames mean is somebody else's (`Meaning`).
 */
import {
  type CloseReason,
  type FromDaemonFrame,
  type ToDaemonFrame,
  closeCodes,
  decodeDaemonFrame,
} from '@relay/protocol';
import type { RelayConfig } from '@relay/config';
import { type Heartbeat, type Socket, createTokenBucket, startHeartbeat } from '@relay/socket';
import type { Logger } from '@relay/telemetry';
import { DeviceMemory } from './device-memory.ts';
import type { GatewayMetrics } from './metrics.ts';

export interface Peer {
  deviceId: string;
  ownerId: string;
  agentType: string;
  daemonVersion: string;
}

const malformedAllowed = 2;

export class DaemonConnection {
  readonly id: string;
  readonly deviceId: string;
  readonly ownerId: string;
  readonly agentType: string;
  readonly daemonVersion: string;
  readonly memory = new DeviceMemory();
  readonly logger: Logger;
  /** Set by the claim; 0 until then. */
  fence = 0;
  /** True from the moment the device is ours, online and its frames count, until the socket ends. */
  live = false;

  readonly #socket: Socket;
  readonly #metrics: GatewayMetrics;
  readonly #config: RelayConfig;
  readonly #bucket: ReturnType<typeof createTokenBucket>;
  #heartbeat: Heartbeat | undefined;
  #malformedAtMs: number[] = [];
  /** When the newest ping left, until it is answered. */
  #pingedAtMs: number | undefined;

  constructor(id: string, peer: Peer, socket: Socket, config: RelayConfig, metrics: GatewayMetrics, logger: Logger) {
    this.id = id;
    this.deviceId = peer.deviceId;
    this.ownerId = peer.ownerId;
    this.agentType = peer.agentType;
    this.daemonVersion = peer.daemonVersion;
    this.#socket = socket;
    this.#config = config;
    this.#metrics = metrics;
    this.logger = logger.child({ deviceId: peer.deviceId, connectionId: id });
    this.#bucket = createTokenBucket({ ratePerSecond: config.framesPerSecond, burst: config.frameBurst });
  }

  get lastInboundAt(): number {
    return this.#socket.lastInboundAt;
  }

  get open(): boolean {
    return this.#socket.state === 'live';
  }

  /** From now on the daemon is pinged, and silence ends the connection. */
  startKeepalive(): void {
    this.#heartbeat = startHeartbeat({
      intervalMs: this.#config.pingIntervalMs,
      timeoutMs: this.#config.silenceTimeoutMs,
      firstDelayMs: Math.random() * this.#config.pingIntervalMs,
      ping: () => {
        if (this.send({ type: 'ping' })) this.#pingedAtMs = performance.now();
      },
      lastInboundAt: () => this.#socket.lastInboundAt,
      onTimeout: () => {
        this.close('heartbeat');
        this.#socket.terminate();
      },
    });
  }

  /**
   * Decodes one frame; undefined when it is to be ignored, which is counted. The third malformed frame within a minute, or
   * too many frames a second, ends the connection.
   */
  decode(text: string): FromDaemonFrame | undefined {
    if (!this.#bucket.take()) {
      this.close('tooMany');
      return undefined;
    }
    const decoded = decodeDaemonFrame(text);
    if (decoded.kind === 'frame') {
      this.#metrics.frames.inc({ type: decoded.frame.type });
      if (decoded.frame.type === 'pong') this.#countRoundTrip();
      if (decoded.dropped.length > 0) {
        this.#metrics.ignored.inc({ cause: 'report entry' }, decoded.dropped.length);
        this.logger.debug({ dropped: decoded.dropped.slice(0, 5) }, 'report entries left out');
      }
      return decoded.frame;
    }
    this.#metrics.ignored.inc({ cause: decoded.kind });
    this.logger.debug({ reason: decoded.reason }, `${decoded.kind} frame`);
    if (decoded.kind === 'malformed') this.#countMalformed();
    return undefined;
  }

  #countRoundTrip(): void {
    if (this.#pingedAtMs === undefined) return;
    this.#metrics.pings.observe((performance.now() - this.#pingedAtMs) / 1000);
    this.#pingedAtMs = undefined;
  }

  #countMalformed(): void {
    const now = Date.now();
    this.#malformedAtMs = this.#malformedAtMs.filter((at) => now - at < this.#config.malformedWindowMs);
    if (this.#malformedAtMs.push(now) > malformedAllowed) this.close('malformed');
  }

  /** Writes a frame. False when the socket is closing: then nothing of it was written. */
  send(frame: ToDaemonFrame): boolean {
    return this.#socket.send(JSON.stringify(frame));
  }

  close(reason: CloseReason): void {
    this.#socket.close(closeCodes[reason].code, closeCodes[reason].reason);
  }

  /** The socket has ended: nothing is pinged, nothing is awaited any more. */
  ended(): void {
    this.live = false;
    this.#heartbeat?.stop();
  }
}
