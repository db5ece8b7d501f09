/**
 * The instances that a test file has started and not yet stopped. Jest's environment has modules of its own, so the two meet at the file's
 * global object.
 */
interface Logging {
  readonly name: string;
  logged(): string[];
}

const key = Symbol.for('relay.testing.running-instances');

/** Of the test file whose global object is given; default: this one. */
export function runningInstances(of: object = globalThis): Set<Logging> {
  const holder = of as { [key]?: Set<Logging> };
  return (holder[key] ??= new Set());
}
