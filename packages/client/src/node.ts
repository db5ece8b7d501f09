/** The door for Node: streams on the package `ws`, which can send a token in a header and say why an upgrade was refused. */
import { type Client, type ClientOptions, clientOn } from './client.ts';
import { nodeSocket } from './node-socket.ts';

export * from './shared.ts';

/** @throws TypeError for an address that is not http or https, and for both kinds of credential at once */
export const createClient = (options: ClientOptions): Client => clientOn({ open: nodeSocket }, options);
