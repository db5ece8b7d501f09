/** A main program: start → SIGTERM → leave. A startup error prints one line with advice and exits with 1. */

export interface Service {
  /** The text for people on standard error when it is ready; the log on standard output is for machines. */
  readonly welcome: readonly string[];
  /** Leaves in good order. Called once. */
  stop(): Promise<void>;
}

/** An error that was written for people is shown without its stack: bad configuration, a database that cannot be had. */
interface RunOptions {
  readonly isForPeople: (error: unknown) => boolean;
}

function explain(error: unknown, { isForPeople }: RunOptions): string {
  const { code, message, path, syscall, setting = 'PORT' } = error as NodeJS.ErrnoException & { setting?: string };
  if (isForPeople(error)) return message;
  if (code === 'EADDRINUSE')
    return `The port is taken: ${message}. Stop the other program, or choose another port with ${setting}.`;
  if (code === 'EACCES' && syscall === 'listen')
    return `The port may not be used: ${message}. Choose one above 1023 with ${setting}.`;
  if (code !== undefined && path !== undefined)
    return `${path} cannot be used: ${message}. Look at its owner, its rights and its disk.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Starts the service and exits with it: 0 after a signal (SIGTERM, SIGINT), 1 if it could not start or leave.
 * A second signal exits immediately, with 1.
 */
export function runService(start: () => Promise<Service>, options: RunOptions): void {
  const fail = (error: unknown) => {
    process.stderr.write(`${explain(error, options)}\n`);
    process.exit(1);
  };
  // A full disk below standard error, or a reader that left, must not crash the process.
  process.stderr.on('error', () => undefined);
  let stopping = false;
  const leaveOnSignal = (service: Service) => {
    const leave = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(1);
      stopping = true;
      process.stderr.write(`${signal}: leaving.\n`);
      service.stop().then(() => process.exit(0), fail);
    };
    process.on('SIGTERM', leave);
    process.on('SIGINT', leave);
  };
  // The event loop is empty, but the start neither completed nor failed: Node would exit with 0, silently.
  const stuck = () =>
    fail(
      'The start is stuck: it waits for something that can never happen. Start it again, and report this if it repeats.',
    );
  process.once('beforeExit', stuck);
  start().then((service) => {
    process.off('beforeExit', stuck);
    leaveOnSignal(service);
    for (const line of service.welcome) process.stderr.write(`${line}\n`);
  }, fail);
}
