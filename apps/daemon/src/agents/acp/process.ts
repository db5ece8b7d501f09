/**
 * One ACP agent as a process: starts it in its own group, initializes it, sends requests, stops it. Knows no tasks and no
 * sessions; every failure is a sentence for people.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  type ClientConnection,
  type CreateElicitationResponse,
  PROTOCOL_VERSION,
  type RequestPermissionResponse,
  client,
  methods,
} from '@agentclientprotocol/sdk';
import { type Clock, type Fields, type Log, recordOf, settledWithin, tail } from '@relay/daemon-kit';
import { reasonOf, systemCode } from '@relay/machine';
import { type KillTimings, endGroup, signalGroup } from '../process-group.ts';
import { type LoginMethod, logIn, loginMethodsOf, offerSentence } from './login.ts';
import { lastLines, sentenceIn } from './sentence.ts';
import { joinHalves, messageStream } from './wire.ts';

export interface AgentProcessTimings extends KillTimings {
  /** The limit from the start of the process to its answer to `initialize`. */
  initializeMs: number;
  /** The time an agent has to log in by itself (`authenticate`). */
  loginMs: number;
  /** The time an agent has to open a session. */
  openMs: number;
  /** The time to wait for the exit of a process once its pipes are closed, so that the reason can be reported. */
  exitMs: number;
  /** The time an agent has to exit after its input closes. */
  leaveMs: number;
}

interface AgentProcessOptions {
  program: string;
  args: readonly string[];
  /** The whole environment. */
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Advice for a person who is not logged in. */
  login: string;
  /** The method of `authenticate` that the person chose. */
  authMethod?: string | undefined;
  clock: Clock;
  timings: AgentProcessTimings;
  log: Log;
  /** `session/update`, in order, each before any response that followed it. */
  onUpdate: (sessionId: string, update: Fields) => void;
  onPermission: (request: Fields, signal: AbortSignal) => Promise<RequestPermissionResponse>;
  onForm: (request: Fields, signal: AbortSignal) => Promise<CreateElicitationResponse>;
}

export interface AgentProcess {
  /** undefined when the program could not be started. */
  pid: number | undefined;
  /** Resolves with the capabilities of the agent. */
  ready: Promise<AgentAbilities>;
  /** False once the process has exited, is being stopped, or has closed its side of the connection. */
  usable(): boolean;
  /**
   * Rejects with an AgentFailure. Without `limitMs` the agent can take any time. `onResult` receives the answer the
   * moment it is read, before any update the agent sent after it. Only one such request can run at a time.
   */
  request(method: string, params: unknown, limitMs?: number, onResult?: (result: Fields) => void): Promise<Fields>;
  notify(method: string, params: unknown): void;
  /** Resolves when the process has exited, with a sentence about how. */
  gone: Promise<string>;
  /** Gives the agent time to exit by itself, then kills it and everything it started. */
  end(): Promise<void>;
  /** Kills the agent at once, with everything it started. */
  kill(): Promise<void>;
  /** Like `kill`, without waiting. */
  abort(): void;
}

export interface AgentAbilities {
  load: boolean;
  resume: boolean;
  list: boolean;
  images: boolean;
  /** It takes messages while it works. */
  steer: boolean;
  name: string;
  version: string;
}

/** The reason why the agent did not do as asked. The message is for people. */
export class AgentFailure extends Error {
  /** The code of JSON-RPC; undefined when the process exited or did not answer. */
  readonly code: number | undefined;
  /** The data of the error of JSON-RPC. */
  get data(): Fields {
    return recordOf(recordOf(this.cause).data);
  }

  constructor(message: string, code?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AgentFailure';
    this.code = code;
  }
}

export const errorCodes = { authRequired: -32000, methodNotFound: -32601 } as const;

/** Bytes kept of the agent's standard error. */
const complaintBytes = 16 * 1024;

export function startAgentProcess(options: AgentProcessOptions): AgentProcess {
  const { program, args, env, cwd, clock, timings, log } = options;
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  let problem: unknown;
  try {
    child = spawn(program, args, {
      cwd,
      env: { ...env, PWD: cwd },
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    problem = error;
  }
  const pid = child?.pid;
  /** Since the turn began; outside turns, since the process started. */
  let complaint = tail(complaintBytes);
  let alive = pid !== undefined;
  let ending = false;
  let isReady = false;
  let offered: readonly LoginMethod[] = [];
  /** One attempt for the life of the process. */
  let login: Promise<boolean> | undefined;

  const exited = new Promise<string>((resolve) => {
    if (!child) return resolve(cannotStart(program, problem));
    child.once('exit', (code, signal) => {
      alive = false;
      resolve(signal === null ? `The agent ended with exit code ${code}.` : `The agent was ended by ${signal}.`);
    });
    child.once('error', (error) => {
      if (pid === undefined) resolve(cannotStart(program, error));
    });
    child.stdin.on('error', () => undefined);
    child.stderr.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk));
    // An agent that does not answer has perhaps printed a question for a person.
    child.stdout.on('data', (chunk: Buffer) => isReady || complaint.push(chunk));
  });
  const withComplaint = (sentence: string) => {
    const lastOutput = lastLines(complaint.text());
    return lastOutput === '' ? sentence : `${sentence}\n${lastOutput}`;
  };
  // Its children must not outlive it.
  const gone = exited.then(async (sentence) => {
    if (pid !== undefined) await endGroup(pid, clock, timings);
    return withComplaint(sentence);
  });

  const kill = async () => {
    ending = true;
    if (pid !== undefined) await endGroup(pid, clock, timings);
    await settledWithin(clock, timings.giveUpMs, gone);
  };

  const results = createResults();
  const connection = child && pid !== undefined ? connect(child, options, results.read) : undefined;
  const closed = () => (ending = true);
  connection?.closed.then(closed, closed);

  const failureOf = async (error: unknown): Promise<AgentFailure> => {
    const code = codeOf(error);
    if (code === errorCodes.authRequired) {
      const sentences = ['The agent is not logged in.', options.login, offerSentence(offered)].filter(Boolean);
      return new AgentFailure(`${sentences.join(' ')} (${sentenceIn(reasonOf(error))})`, code);
    }
    if (code !== undefined) return new AgentFailure(sentenceOf(error), code, { cause: error });
    // The connection closes before the process reports its exit.
    let how: string | undefined;
    await settledWithin(
      clock,
      timings.exitMs,
      exited.then((sentence) => (how = sentence)),
    );
    return new AgentFailure(withComplaint(how ?? `The connection to the agent broke: ${reasonOf(error)}.`), undefined, {
      cause: error,
    });
  };

  const ask = async (method: string, params: unknown, limitMs?: number): Promise<Fields> => {
    if (!connection) throw new AgentFailure(await exited);
    if (method === methods.agent.session.prompt) complaint = tail(complaintBytes);
    const answer = connection.agent.request<Fields | undefined>(method, params);
    answer.catch(() => undefined);
    if (limitMs !== undefined && !(await settledWithin(clock, limitMs, answer))) {
      throw new AgentFailure(withComplaint(`The agent did not answer ${method} within ${limitMs / 1000} s.`));
    }
    try {
      return (await answer) ?? {};
    } catch (error) {
      throw await failureOf(error);
    }
  };

  const request = async (method: string, params: unknown, limitMs?: number): Promise<Fields> => {
    try {
      return await ask(method, params, limitMs);
    } catch (error) {
      if (!mayRepeatAfterLogin(method, error)) throw error;
      login ??= logIn(ask, { offered, chosen: options.authMethod, limitMs: timings.loginMs, log });
      if (!(await login)) throw error;
      return ask(method, params, limitMs);
    }
  };

  const ready = ask(
    methods.agent.initialize,
    {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'relay-daemon', version: '1.0.0' },
      // No fs and no terminal: agents work on this disk themselves, and do it worse through a client. Forms: without
      // them some agents do not offer their questions. Notices: without them warnings land in the answer.
      clientCapabilities: { elicitation: { form: {} }, session: { notices: {} } },
    },
    timings.initializeMs,
  ).then((answer) => {
    if (answer.protocolVersion !== PROTOCOL_VERSION) {
      throw new AgentFailure(
        `The agent speaks version ${String(answer.protocolVersion)} of ACP, not ${PROTOCOL_VERSION}.`,
      );
    }
    isReady = true;
    offered = loginMethodsOf(answer, env);
    return abilitiesOf(answer);
  });
  ready.catch((error: unknown) => log.warn('agent not ready', { why: reasonOf(error).slice(0, 300) }));

  return {
    pid,
    usable: () => alive && !ending,
    ready,
    request: (method, params, limitMs, onResult) => results.during(onResult, () => request(method, params, limitMs)),
    notify: (method, params) => void connection?.agent.notify(method, params).catch(() => undefined),
    gone,
    async end() {
      ending = true;
      if (alive) {
        child?.stdin.end();
        await settledWithin(clock, timings.leaveMs, exited);
      }
      await kill();
    },
    kill,
    abort() {
      if (pid !== undefined && alive) signalGroup(pid, 'SIGKILL');
    },
  };
}

/** Passes results to the listener of one request, the moment they are read. */
function createResults() {
  let listener: ((result: Fields) => void) | undefined;
  return {
    read: (result: unknown) => listener?.(recordOf(result)),
    async during<T>(next: typeof listener, work: () => Promise<T>): Promise<T> {
      if (next) listener = next;
      try {
        return await work();
      } finally {
        if (next && listener === next) listener = undefined;
      }
    },
  };
}

/** A prompt is never sent twice: the agent could have begun to work on it. */
const mayRepeatAfterLogin = (method: string, error: unknown) =>
  method !== methods.agent.session.prompt && error instanceof AgentFailure && error.code === errorCodes.authRequired;

function connect(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  { onUpdate, onPermission, onForm, log }: AgentProcessOptions,
  onResult: (result: unknown) => void,
): ClientConnection {
  const join = joinHalves();
  const stream = messageStream({
    input: child.stdin,
    output: child.stdout,
    onNoise: (line) => log.speech('agent printed', { line }),
    onResult,
    onNotification(method, params) {
      if (method !== methods.client.session.update) return false;
      const { sessionId, update } = recordOf(params);
      if (typeof sessionId === 'string') onUpdate(sessionId, join(sessionId, recordOf(update)));
      return true;
    },
  });
  const connection = client({ name: 'relay-daemon' })
    .onRequest(methods.client.session.requestPermission as string, recordOf, ({ params, signal }) =>
      onPermission(params, signal),
    )
    .onRequest(methods.client.elicitation.create as string, recordOf, ({ params, signal }) => onForm(params, signal))
    // Extensions of single agents are ignored.
    .onNotification('*', () => undefined)
    .connect(stream);
  connection.closed.catch(() => undefined);
  return connection;
}

function abilitiesOf(answer: Fields): AgentAbilities {
  const can = recordOf(answer.agentCapabilities);
  const sessions = recordOf(can.sessionCapabilities);
  const info = recordOf(answer.agentInfo);
  const present = (value: unknown) => value !== undefined && value !== null && value !== false;
  return {
    load: can.loadSession === true,
    resume: present(sessions.resume),
    list: present(sessions.list),
    images: recordOf(can.promptCapabilities).image === true,
    steer: recordOf(recordOf(answer._meta).steering).supported === true,
    name: typeof info.name === 'string' ? info.name : '',
    version: typeof info.version === 'string' ? info.version : '',
  };
}

function cannotStart(program: string, error: unknown): string {
  const code = systemCode(error);
  if (code === 'ENOENT') {
    return `Cannot start "${program}": there is no such program in the PATH of the daemon. "relay-daemon agents" shows what is installed.`;
  }
  return `Cannot start "${program}": ${code === 'EACCES' ? 'it may not be executed' : reasonOf(error)}.`;
}

const codeOf = (error: unknown): number | undefined => {
  const code: unknown = recordOf(error).code;
  return typeof code === 'number' ? code : undefined;
};

/** The message of a JSON-RPC error with its details, each as a sentence. */
function sentenceOf(error: unknown): string {
  const data = recordOf(error).data;
  const { details, message, reason } = recordOf(data);
  const found = [details, message, reason, data].find((text) => typeof text === 'string' && text !== '');
  const more = typeof found === 'string' ? sentenceIn(found) : '';
  const failure = sentenceIn(reasonOf(error));
  return failure.includes(more) ? failure : `${failure}: ${more}`;
}
