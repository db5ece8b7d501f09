/** The instances that a test file has started and not yet stopped. */
interface Logging {
  readonly name: string;
  logged(): string[];
}

export const runningInstances = new Set<Logging>();
