/**
 * The log of one instance: one JSON object per line, without credentials.
 *
 * Two filters, because each alone has holes: `redactFields` knows names and structure but not free text; `maskSecrets`
 * reads the finished line but recognises a credential only by its form.
 */
import { type LevelWithSilent, type Logger, type ChildLoggerOptions, pino } from 'pino';
import { cutText, redactFields } from './redact.ts';
import { firstThenCounts } from './repeated.ts';
import { maskSecrets } from './secret-text.ts';
import { standardOutput } from './standard-output.ts';

export type { Logger } from 'pino';

interface LoggerOptions {
  readonly level: LevelWithSilent;
  /** The program: `standalone`, `api`, `gateway`, … */
  readonly name: string;
  /** The process of that program. */
  readonly instance: string;
  /**
   * Receives every line with its newline. Absent: standard output, which can lose lines, reports the loss, and never
   * blocks the process.
   */
  readonly destination?: { write(line: string): void };
  /** How often the number of repeated warnings is logged. Default one minute. */
  readonly repeatedMs?: number;
}

type LogArguments = [first: unknown, ...rest: unknown[]];

function safeArgument(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value);
  return typeof value === 'object' && value !== null ? redactFields(value) : value;
}

type Child = (this: Logger, bindings: object, options?: ChildLoggerOptions) => Logger;

/** Children get their fields once, when they are made, past the hook below. A child inherits this from its parent. */
function withSafeChildren(logger: Logger): Logger {
  const child = Reflect.get(logger, 'child') as unknown as Child;
  const safeChild: Child = function (bindings, options) {
    return child.call(this, redactFields(bindings), options);
  };
  return Object.assign(logger, { child: safeChild as unknown as typeof logger.child });
}

/**
 * A logger with the fields `level` (as text), `time` (ISO 8601), `name`, `instance` and `msg`. Errors go under `err`,
 * requests under `req`. It logs conversation texts (`content`, `message`, `instruction`, `output`, `result`, `prompt`,
 * …) as their length, at any depth. It counts a warning whose message it logged within the last minute, from any child:
 * then one line per minute reports the number (`repeated`), with the fields of the newest.
 */
export function createLogger(options: LoggerOptions): Logger {
  const counted = firstThenCounts(options.repeatedMs ?? 60_000);
  const base = { name: options.name, instance: options.instance };
  const lossOf = (lost: number) => {
    const msg = `${lost} lines of the log were lost: standard output was not read, or its disk was full.`;
    return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), ...base, lost, msg })}\n`;
  };
  const settings = {
    level: options.level,
    base,
    timestamp: pino.stdTimeFunctions.isoTime,
    // The hook has made a view of the error already; the serializer of the library would take it for an error again.
    serializers: { err: (view: unknown) => view },
    formatters: { level: (level: string) => ({ level }) },
    hooks: {
      logMethod(this: Logger, args: LogArguments, method: (...args: LogArguments) => void, level: number) {
        // The first argument can be the fields; the rest fill the placeholders of the message.
        const write = () => method.apply(this, args.map(safeArgument) as LogArguments);
        const kind = level === pino.levels.values.warn ? args.find((arg) => typeof arg === 'string') : undefined;
        if (kind === undefined) return write();
        counted(kind, (repeated) => {
          if (repeated === undefined) return write();
          const [first, ...rest] = args.map(safeArgument) as LogArguments;
          if (typeof first === 'string') method.call(this, { repeated }, first, ...rest);
          else method.call(this, { ...(first as object), repeated }, ...rest);
        });
      },
      streamWrite: maskSecrets,
    },
  };
  return withSafeChildren(pino(settings, options.destination ?? standardOutput(lossOf)));
}
