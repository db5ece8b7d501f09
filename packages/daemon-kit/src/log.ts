/**
 * One line per event of the daemon's life, on stderr: for people, or JSON. Credentials never appear: the given secrets are
 * redacted in every line. Text of a conversation appears only through `speech`, and only when verbose.
 */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  /** Text of a conversation. Silent unless verbose. */
  speech(event: string, fields: Fields): void;
}

export interface LogOptions {
  write: (line: string) => void;
  json?: boolean;
  verbose?: boolean;
  secrets?: readonly string[];
  now?: () => number;
  /** On every line, before its own fields. */
  about?: Fields;
}

export const silentLog: Log = { info: () => undefined, warn: () => undefined, speech: () => undefined };

export function createLog({ write, json, verbose, secrets = [], now = Date.now, about }: LogOptions): Log {
  const line = (level: 'info' | 'warn', event: string, own: Fields = {}) => {
    const fields = { ...about, ...own };
    const at = new Date(now()).toISOString();
    const text = json
      ? JSON.stringify({ at, level, event, ...fields })
      : `${at} ${level.padEnd(4)} ${event}${pairs(fields)}`;
    write(`${secrets.reduce((blotted, secret) => blotted.replaceAll(secret, '[secret]'), text)}\n`);
  };
  return {
    info: (event, fields) => line('info', event, fields),
    warn: (event, fields) => line('warn', event, fields),
    speech: (event, fields) => {
      if (verbose) line('info', event, fields);
    },
  };
}

const pairs = (fields: Fields) =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${plain(String(value))}`)
    .join('');

// Quoting everything unusual also keeps control characters of a hostile text away from the terminal.
const plain = (value: string) => (/^[\w.:/@+,-]+$/.test(value) ? value : JSON.stringify(value));
