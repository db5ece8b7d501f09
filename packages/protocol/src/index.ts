/**
 * The single source of the protocol: schemas, and the types, validators and documents derived from them. Every other
 * package can import it; it imports only libraries.
 */
export { limits, agentTypePattern, type Static, type TSchema } from './schema.ts';
export * from './base-address.ts';
export * from './session-id.ts';
export * from './last-string.ts';
export * from './texts.ts';
export * from './times.ts';
export * from './without-marks.ts';
export * from './errors.ts';
export * from './close-codes.ts';
export * from './transcript/index.ts';
export * from './endpoints.ts';
export * from './figures.ts';
export * from './pages.ts';
export {
  capabilities,
  relayCapabilities,
  relayCapabilitiesHeader,
  relayCapabilityNames,
  healthCapabilities,
  toDaemonFrames,
  type Capability,
  type ToDaemon,
  type ToDaemonFrame,
} from './frames/to-daemon.ts';
export {
  daemonEvents,
  fromDaemonFrames,
  type DaemonEvent,
  type FromDaemon,
  type FromDaemonFrame,
  type ReportEntry,
  type SlashCommand,
  type SlashCommandSet,
  type Usage,
} from './frames/from-daemon.ts';
export { attentionFrames, fromAppFrames, type Attention, type AttentionFrame } from './frames/attention.ts';
export { imageSupport } from './images.ts';
export * from './frames/instance.ts';
export * from './rest/conversation.ts';
export * from './rest/people.ts';
export { type DeviceAgent, agentsHeader, formatAgents, parseAgents } from './agents.ts';
export * from './rest/bulk.ts';
export { type DeskChoice, type DeskState, type Held, type ReleaseSession, deskChoices } from './rest/desk.ts';
export * from './rest/causes.ts';
export * from './rest/inbox.ts';
export * from './rest/prompts.ts';
export * from './rest/notification-settings.ts';
export * from './rest/push.ts';
export * from './rest/queue.ts';
export * from './rest/schedules.ts';
export * from './rest/settings.ts';
export { spendingLimits, type DeviceUsage, type UsageDay } from './rest/usage.ts';
export type { AuditEntry, AuditPage } from './rest/audit.ts';
export {
  acpScopes,
  acpTokenIdleSeconds,
  maxAcpTokens,
  type AcpScope,
  type AcpToken,
  type CreateAcpToken,
  type CreatedAcpToken,
} from './rest/acp-tokens.ts';
export {
  deviceKeyTtl,
  deviceKeyUses,
  maxDeviceKeys,
  type CreateDeviceKey,
  type CreatedDeviceKey,
  type DeviceKey,
} from './rest/device-keys.ts';
export type { BrowsedFolder, FolderList } from './rest/folders.ts';
export { type SearchHits, searchLimits } from './rest/search.ts';
export {
  changeLimits,
  changeScopes,
  type Change,
  type ChangeList,
  type ChangeScope,
  type FileDiff,
  type FileList,
  type FilePiece,
} from './rest/changes.ts';
export { type FileState, type SendFile, fileLimits } from './rest/uploads.ts';
export type { ItemContent } from './rest/content.ts';
export * from './rest/account-export.ts';
export * from './route-types.ts';
export * from './agent-tools.ts';
export * from './routes.ts';
export * from './decode.ts';
export * from './validate.ts';
