/** The users' door. */
export { createApi, type Api } from './server.ts';
export { openApi } from './open.ts';
export type { ApiDeps } from './deps.ts';
export type { Transport } from './notify/outbox.ts';
export { createIdentity, type Identity } from './identity/identity.ts';
export type { IdentityDeps } from './identity/deps.ts';
export { peopleOf, type People } from './account/people.ts';
export { rotatePushKey } from './push/vapid.ts';
