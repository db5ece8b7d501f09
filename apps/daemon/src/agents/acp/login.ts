/** The `authenticate` methods that an agent offers, and the choice among them. The daemon runs unattended. */
import { methods } from '@agentclientprotocol/sdk';
import { type Fields, type Log, listOf, recordOf, wordsOf } from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import { presets } from './presets.ts';

export interface LoginMethod {
  id: string;
  name: string;
  /** Whether it can succeed without a person, as far as its description shows. */
  isUnattended: boolean;
}

/** Methods that use a login or a key of this machine, by the presets of their agents. */
const presetIds = new Set(presets.flatMap(({ logins = [] }) => logins));
const storedLogin = /cached|existing|saved|stored/i;
const withPerson = /browser|device|oauth/i;

export function loginMethodsOf(answer: Fields, env: NodeJS.ProcessEnv): LoginMethod[] {
  return listOf(answer.authMethods).flatMap((method) => {
    const { id, name, type, vars, varName } = recordOf(method);
    if (typeof id !== 'string' || id === '') return [];
    const title = wordsOf(name) || id;
    const variables = [
      varName,
      ...listOf(vars).map((one) => (recordOf(one).optional === true ? '' : recordOf(one).name)),
    ];
    const needed = variables.filter((one): one is string => typeof one === 'string' && one !== '');
    const keyOfId = id.toUpperCase().replace(/[^A-Z0-9]/g, '_');
    const isUnattended =
      type === 'env_var'
        ? needed.length > 0 && needed.every((one) => env[one])
        : type !== 'terminal' &&
          // A key is used only where it is: Gemini forgets its own login when it is asked to use another one.
          (presetIds.has(id) ||
            Boolean(env[keyOfId]) ||
            (storedLogin.test(id + title) && !withPerson.test(id + title)));
    return [{ id, name: title, isUnattended }];
  });
}

type Ask = (method: string, params: unknown, limitMs: number) => Promise<unknown>;

interface LoginOptions {
  offered: readonly LoginMethod[];
  /** The id that the person named; default: every unattended one, in order. */
  chosen: string | undefined;
  /** The time each method has. */
  limitMs: number;
  log: Log;
}

/** Resolves with true once the agent accepted one of its methods. */
export async function logIn(ask: Ask, { offered, chosen, limitMs, log }: LoginOptions): Promise<boolean> {
  const usable = offered.filter(({ id, isUnattended }) => (chosen === undefined ? isUnattended : id === chosen));
  for (const { id } of usable) {
    try {
      await ask(methods.agent.authenticate, { methodId: id }, limitMs);
      log.info('agent logged in', { method: id });
      return true;
    } catch (error) {
      log.warn('agent not logged in', { method: id, why: reasonOf(error).slice(0, 300) });
    }
  }
  return false;
}

/** A sentence for a person whose agent is not logged in; empty when the agent offers nothing. */
export function offerSentence(methods: readonly LoginMethod[]): string {
  if (methods.length === 0) return '';
  const names = methods.map(({ id, name }) => (name === id ? id : `${id} (${name})`)).join(', ');
  return `It offers these ways to log in: ${names}. "--auth-method <id>" of "relay-daemon register" and "up" uses one without a person.`;
}
