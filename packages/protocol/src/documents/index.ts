/** The second entry point of the protocol: the registry of all frames and bodies, and the documents made from it. Not for browsers. */
export { registry, type Plane, type Registered } from '../registry.ts';
export { asyncApiDocument } from './asyncapi.ts';
export { errorsMarkdown } from './errors.ts';
export { openApiDocument } from './openapi.ts';
export { protocolMarkdown } from './protocol.ts';
export type { Json, JsonObject } from './json-schema.ts';
