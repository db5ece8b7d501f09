/** The helper that most tests of this package use: the problems of an environment. */
import { type Role, type ConfigProblem, readConfig, ConfigError } from '../src/index.ts';

/** The problems of `env`; empty if it is accepted. */
export function problemsOf(role: Role, env: NodeJS.ProcessEnv): readonly ConfigProblem[] {
  try {
    readConfig(role, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

export function messagesOf(role: Role, env: NodeJS.ProcessEnv): string[] {
  return problemsOf(role, env).map(({ message }) => message);
}
