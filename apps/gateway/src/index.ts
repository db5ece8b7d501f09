/** The daemons' door. */
export { createGateway, type Gateway, type GatewayDeps } from './server.ts';
export { createProbes } from './probes.ts';
