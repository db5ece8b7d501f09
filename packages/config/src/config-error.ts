/** The only error of reading the environment. */
export interface ConfigProblem {
  /** Name of the variable to look at. */
  readonly variable: string;
  /** A whole sentence with the name, the bad value (never a secret) and the valid values. */
  readonly message: string;
}

/** Everything that is wrong with the environment, at once; its message is made for the console. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ message }) => `  ${message}`);
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${lines.join('\n')}`);
    this.problems = problems;
  }
}
