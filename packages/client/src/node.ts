/** The entry for Node: streams use the package `ws`, which can send a token in a header and report why an upgrade was refused. */
import { type Client, type ClientOptions, clientOn } from './client.ts';
import { nodeSocket } from './node-socket.ts';

export * from './shared.ts';

/** @throws TypeError if the address is not http or https, or if both `token` and `getToken` are set */
export const createClient = (options: ClientOptions): Client => clientOn({ open: nodeSocket }, options);
