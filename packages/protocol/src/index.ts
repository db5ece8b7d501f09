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
export { deviceStatuses, type DeviceStatus } from './rest/device.ts';
export { type DeviceAgent, agentsHeader, formatAgents, parseAgents } from './agents.ts';
export { type DeskChoice, type Held, deskChoices } from './rest/desk.ts';
export * from './rest/causes.ts';
export * from './rest/inbox.ts';
export * from './rest/settings.ts';
export { spendingLimits, type UsageDay } from './rest/usage.ts';
export { searchLimits } from './rest/search.ts';
export { changeLimits, type Change, type ChangeScope } from './rest/changes.ts';
export { type FileState, type SendFile, fileLimits } from './rest/uploads.ts';
export * from './routes/account.ts';
export * from './routes/account-export.ts';
export * from './routes/changes.ts';
export * from './routes/credentials.ts';
export * from './routes/deliveries.ts';
export * from './routes/desk.ts';
export * from './routes/devices.ts';
export * from './routes/from-daemon.ts';
export * from './routes/inbox.ts';
export * from './routes/messages.ts';
export * from './routes/notification-settings.ts';
export * from './routes/push.ts';
export * from './routes/registration.ts';
export * from './routes/schedules.ts';
export * from './routes/sessions.ts';
export * from './routes/settings.ts';
export * from './routes/system.ts';
export * from './routes/tasks.ts';
export * from './routes/uploads.ts';
export * from './routes/watching.ts';
export { ErrorResponse } from './routes/bodies.ts';
export * from './route-types.ts';
export * from './agent-tools.ts';
export * from './routes.ts';
export * from './decode.ts';
export * from './validate.ts';
