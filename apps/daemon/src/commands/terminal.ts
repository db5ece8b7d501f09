/** Where a command reads and writes: results on `out`, everything else on `err`. */
export interface Terminal {
  out: (text: string) => void;
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
  /** `err` is a screen: a line may be written over. */
  isScreen: boolean;
}

export function processTerminal(): Terminal {
  // Whoever read along may leave (`| head`, a closed terminal): the daemon goes on, and a command has nobody left to tell.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    isScreen: process.stderr.isTTY,
  };
}

/** Options that every command takes. */
export interface CommonOptions {
  home?: string;
  json?: boolean;
  profile?: string;
}
