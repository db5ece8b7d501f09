/** Entry point of the socket room: one live WebSocket, its heartbeat, its bounded writes and its close. */
export { HandshakeError } from './errors.ts';
export { Heartbeats, doorHeartbeat } from './heartbeat.ts';
export type { Heartbeat, HeartbeatOptions, HeartbeatPeer, HeartbeatTimers } from './heartbeat.ts';
export type { SocketLimits } from './limits.ts';
export { createTokenBucket } from './rate.ts';
export type { TokenBucket, TokenBucketOptions } from './rate.ts';
export { createSocketServer } from './server.ts';
export type { SocketServer, SocketServerOptions } from './server.ts';
export type { CloseCode, Socket, SocketClose, SocketCloses, SocketHandlers } from './socket.ts';
export { spreadOver } from './spread.ts';
export { guardUpgrade, refuseUpgrade } from './upgrade.ts';
