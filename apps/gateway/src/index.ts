/** The daemons' door. */
export { createGateway, type Gateway, type GatewayDeps } from './server.ts';
export { createProbes } from './door/probes.ts';
