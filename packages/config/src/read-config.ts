/**
 * Turns the environment into one typed object, or reports all its mistakes. Reads nothing but its arguments and the
 * host name.
 */
import { hostname } from 'node:os';
import { type ConfigProblem, ConfigError } from './config-error.ts';
import { type RelayConfig, fieldOf, variableNames } from './relay-config.ts';
import { brokenRules } from './rules.ts';
import { unknownVariables } from './unknown-variables.ts';
import type { Role, Variable } from './variable.ts';
import { timingsFor } from './timings.ts';
import { variables } from './variables.ts';

function refusal(name: string, given: string, secret: boolean, expected: string): ConfigProblem {
  // A password inside an address is a secret wherever it stands.
  const safe = given.replaceAll(/\/\/[^/@\s]*@/g, '//…@');
  const shown = safe.length > 80 ? `${safe.slice(0, 80)}…` : safe;
  const what = secret ? 'has a value that cannot be used' : `is ${JSON.stringify(shown)}`;
  return { variable: name, message: `${name} ${what}; it must be ${expected}.` };
}

interface Reading {
  readonly config: RelayConfig;
  readonly problems: ConfigProblem[];
}

function read(role: Role, env: NodeJS.ProcessEnv): Reading {
  const values = new Map<string, unknown>();
  const problems: ConfigProblem[] = [];
  const context = {
    role,
    hostName: hostname(),
    earlier: <T>(name: string): T => {
      if (!values.has(name)) throw new TypeError(`${name} stands later in the table than what depends on it`);
      return values.get(name) as T;
    },
  };
  for (const name of variableNames) {
    const variable = variables[name] as Variable<unknown>;
    // An empty variable is how compose files and charts write an absent one.
    const text = env[name]?.trim() ?? '';
    if (text === '') {
      values.set(name, variable.default.from(context));
      continue;
    }
    const parsed = variable.parse(text);
    if ('value' in parsed) {
      values.set(name, parsed.value);
      continue;
    }
    problems.push(refusal(name, text, variable.secret, parsed.expected));
    // The default is used instead, so that the rest can be checked and all problems are reported at once.
    values.set(name, variable.default.from(context));
  }
  const fields = variableNames.map((name) => [fieldOf(name), values.get(name)] as const);
  return { config: { role, ...timingsFor(env), ...Object.fromEntries(fields) } as RelayConfig, problems };
}

/** The configuration of `role` from an empty environment. Nothing is checked: a role that needs a variable has it undefined here. */
export function defaults(role: Role): RelayConfig {
  return read(role, {}).config;
}

/**
 * Reads every variable of the table from `env`. Surrounding spaces are ignored and an empty
 * value counts as absent. Variables that a role does not use are checked too: instances share one environment.
 *
 * @throws ConfigError with every problem at once: values that cannot be used, names that look like ours and are not, and
 *   combinations that cannot work. Secrets never appear in it.
 */
export function readConfig(role: Role, env: NodeJS.ProcessEnv): RelayConfig {
  const { config, problems } = read(role, env);
  const refused = new Set(problems.map(({ variable }) => variable));
  // A rule about a value that was refused would blame a default that was not chosen.
  const broken = brokenRules(config).filter(({ about }) => !about.some((name) => refused.has(name)));
  const rules = broken.map(({ about, message }) => ({ variable: about[0], message }));
  const all = [...problems, ...rules, ...unknownVariables(env, variableNames)];
  if (all.length > 0) throw new ConfigError(all);
  return config;
}
