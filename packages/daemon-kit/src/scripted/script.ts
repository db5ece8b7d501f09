/**
 * The script of the `scripted` agent: JSON → turns, or a Failure that names the wrong place.
 *
 *     { "turns": [ { "match": "^deploy", "steps": [ {"type": "progress", "action": "Reading", "target": "README.md"},
 *                                                   {"type": "wait", "prompt": "Go on?", "options": ["Yes", "No"]},
 *                                                   {"type": "complete", "text": "You said {message}."} ] } ] }
 *
 * A turn can also be just its list of steps. Texts can contain `{message}`, `{session}`, `{task}` and `{project}`.
 */
import { fileURLToPath } from 'node:url';
import { Failure, readIfPresent, reasonOf } from '@relay/machine';
import { exitCodes } from '../exit-codes.ts';

export type Step =
  | { type: 'progress'; action: string; target?: string }
  | { type: 'output'; output: string }
  /** Part of the answer; a turn without `complete` returns these texts. */
  | { type: 'say'; text: string }
  /** Completes the turn with this text, or with the `say` texts so far. */
  | { type: 'complete'; text?: string }
  /** Asks a question. The steps after it run when the answer arrives. */
  | { type: 'wait'; prompt: string; result?: string; options?: string[] }
  | { type: 'error'; error: string }
  | { type: 'delay'; ms: number }
  /** The agent breaks: it reports no result. */
  | { type: 'crash' }
  /** Nothing happens until the turn is cancelled. */
  | { type: 'hang' };

interface ScriptTurn {
  /** Played for messages that match; case-insensitive. Turns without it are played one after the other, and over again. */
  match?: RegExp;
  steps: Step[];
}

export interface Script {
  turns: ScriptTurn[];
}

interface Field {
  kind: 'text' | 'texts' | 'ms';
  required?: true;
}

const fieldsOf: Readonly<Record<Step['type'], Readonly<Record<string, Field>>>> = {
  progress: { action: { kind: 'text', required: true }, target: { kind: 'text' } },
  output: { output: { kind: 'text', required: true } },
  say: { text: { kind: 'text', required: true } },
  complete: { text: { kind: 'text' } },
  wait: { prompt: { kind: 'text', required: true }, result: { kind: 'text' }, options: { kind: 'texts' } },
  error: { error: { kind: 'text', required: true } },
  delay: { ms: { kind: 'ms', required: true } },
  crash: {},
  hang: {},
};

const maxDelayMs = 86_400_000;
const isText = (value: unknown) => typeof value === 'string';
const fits: Readonly<Record<Field['kind'], { test: (value: unknown) => boolean; words: string }>> = {
  text: { test: isText, words: 'a text' },
  texts: { test: (value) => Array.isArray(value) && value.every(isText), words: 'a list of texts' },
  ms: {
    test: (value) => typeof value === 'number' && value >= 0 && value <= maxDelayMs,
    words: `a number of milliseconds from 0 to ${maxDelayMs}`,
  },
};

export function readScript(file: string | URL): Script {
  const name = typeof file === 'string' ? file : fileURLToPath(file);
  let text: string | undefined;
  try {
    text = readIfPresent(name);
  } catch (error) {
    throw wrong(`${name} cannot be read: ${reasonOf(error)}`);
  }
  if (text === undefined) throw wrong(`${name} does not exist`);
  try {
    return parseScript(JSON.parse(text));
  } catch (error) {
    throw wrong(`${name}: ${reasonOf(error)}`);
  }
}

const wrong = (why: string) => new Failure('BAD_SCRIPT', `The script cannot be played. ${why}.`, exitCodes.badScript);

/** Throws TypeError with the place of the first mistake, such as `turns[0].steps[2].ms must be …`. */
export function parseScript(value: unknown): Script {
  const turns = isRecord(value) ? value.turns : undefined;
  if (!Array.isArray(turns) || turns.length === 0) throw new TypeError('"turns" must be a list with at least one turn');
  return { turns: turns.map((turn: unknown, index) => turnOf(turn, `turns[${index}]`)) };
}

function turnOf(value: unknown, at: string): ScriptTurn {
  const turn = Array.isArray(value) ? { steps: value as unknown[] } : value;
  if (!isRecord(turn)) throw new TypeError(`${at} must be a list of steps, or an object with "steps"`);
  const { steps, match } = turn;
  if (!Array.isArray(steps) || steps.length === 0)
    throw new TypeError(`${at}.steps must be a list with at least one step`);
  if (match !== undefined && typeof match !== 'string')
    throw new TypeError(`${at}.match must be a regular expression as text`);
  return {
    ...(match === undefined ? {} : { match: expression(match, `${at}.match`) }),
    steps: steps.map((step: unknown, index) => stepOf(step, `${at}.steps[${index}]`)),
  };
}

function expression(text: string, at: string): RegExp {
  try {
    return new RegExp(text, 'iu');
  } catch (error) {
    throw new TypeError(`${at} is not a regular expression: ${reasonOf(error)}`, { cause: error });
  }
}

function stepOf(value: unknown, at: string): Step {
  const type = isRecord(value) ? value.type : undefined;
  if (!isRecord(value) || typeof type !== 'string' || !Object.hasOwn(fieldsOf, type)) {
    throw new TypeError(`${at}.type must be one of ${Object.keys(fieldsOf).join(', ')}`);
  }
  for (const [name, { kind, required }] of Object.entries(fieldsOf[type as Step['type']])) {
    const field = value[name];
    if (field === undefined && !required) continue;
    if (!fits[kind].test(field)) throw new TypeError(`${at}.${name} must be ${fits[kind].words}`);
  }
  return value as Step;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
