/** The context of a command that calls a relay: the address, the sign-in, and the output of the result. */
import { type Terminal, reasonOf } from '@relay/machine';
import { currentAddress } from '../address.ts';
import type { CommonOptions } from './shared-options.ts';
import { type Home, homeOf } from '../home.ts';
import { type Relay, relayOf } from '../relay.ts';
import { type Access, createAccess } from '../sign-in/access.ts';
import { type Style, styleOf } from '../show/style.ts';

export interface Context {
  terminal: Terminal;
  home: Home;
  url: string;
  access: Access;
  relay: Relay;
  json: boolean;
  style: Style;
  /** Prints the result: one JSON document, or text for people. */
  print: (record: unknown, text: () => string) => void;
}

/** @throws Failure NOT_SIGNED_IN, BAD_USAGE, INSECURE_ADDRESS */
export function contextOf(options: CommonOptions, terminal: Terminal): Context {
  const home = homeOf(terminal.env);
  const url = currentAddress(options, terminal.env, home);
  const access = createAccess(url, home, terminal.env);
  return {
    terminal,
    home,
    url,
    access,
    relay: relayOf(access),
    style: styleOf(terminal),
    ...printer(options, terminal),
  };
}

/** Returns a record as one line of JSON. A record that cannot be encoded (ten thousand levels deep) becomes an error record: the stream continues. */
export function jsonLine(record: unknown): string {
  try {
    return `${JSON.stringify(record)}\n`;
  } catch (error) {
    return `${JSON.stringify({ type: 'unreadable', error: reasonOf(error) })}\n`;
  }
}

export function printer({ json = false }: CommonOptions, terminal: Terminal): Pick<Context, 'json' | 'print'> {
  return { json, print: (record, text) => terminal.out(json ? jsonLine(record) : text()) };
}
