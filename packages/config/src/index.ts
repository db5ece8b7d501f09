/**
 * The environment, read once: every variable of the relay, its default, its rule and its meaning. Independent of their
 * use.
 */
export { type ConfigProblem, ConfigError } from './config-error.ts';
export { type TrustProxy, isContact } from './addresses.ts';
export type { DaemonVersionPolicy, DaemonVersions } from './daemon-versions.ts';
export type { UpstreamSettings } from './upstreams.ts';
export type { IssuerSettings } from './issuers.ts';
export { configurationMarkdown, describeVariables } from './markdown.ts';
export { defaults, readConfig } from './read-config.ts';
export type { RelayConfig, VariableName } from './relay-config.ts';
export { timings } from './timings.ts';
export type { Kind, Role } from './variable.ts';
