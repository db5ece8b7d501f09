/** The exports that both entries of the package share, apart from `createClient`. */
export type { CallArguments, CallOptions, Input, Output } from './call.ts';
export type { Client, ClientOptions } from './client.ts';
export { backoffMs } from './clock.ts';
export * from './errors.ts';
export type { UnknownFrame } from './frames.ts';
export { InboxCopy, type InboxState } from './inbox-copy.ts';
export type { AttentionEvent, AttentionItem, AttentionOptions, ConnectionState } from './items.ts';
export { pause } from './pause.ts';
export { type Exchange, type FetchAnswer, request } from './request.ts';
export { type OutgoingFile, newFileId, sendFile } from './send-file.ts';
export { SessionCopy } from './session-copy.ts';
export type { Loaded, SessionCopyOptions, SessionState } from './session-state.ts';
export { isOutdated } from './signal.ts';
export type { WebSocketConstructor, WebSocketLike } from './socket.ts';
export type { AttentionStream } from './stream.ts';
export type { GetToken, Grant, TokenWish } from './token.ts';
export { TranscriptCopy, type TranscriptFrame, type TranscriptPage } from './transcript.ts';
