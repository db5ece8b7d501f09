/** The pending prompts of one session and client: each is one message, follows its turn, and settles once. */
import type { PromptResponse } from '@agentclientprotocol/sdk';
import { RelayError } from '@relay/client';
import type { MessageSetting, Message, Session } from '@relay/protocol';
import { type Begin, pendingIdOf } from './begin.ts';
import { attach } from './attach.ts';
import type { Host } from './host.ts';
import { pause } from './persist.ts';
import type { Instruction } from './prompt.ts';
import { Turn, endOf, squashed, stepOf } from './turn.ts';

/** How long an offline device is asked for the last texts of a turn; then the result of the task is used. */
const lastWordsMs = 60_000;
/** A cancelled prompt resolves after this time, even if its agent does not stop. */
const cancelMs = 2000;

/** The part of a session that prompts need. */
interface Talk {
  begin: Begin;
  sessionId(): string | undefined;
  /** The daemon keeps no items. */
  isPlain(): boolean;
  /** Settings chosen before the session began. */
  settings(): readonly MessageSetting[];
  /** Runs work in sequence. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves with true if nothing is missing. */
  catchUp(): Promise<boolean>;
  show(message: Message): Promise<void>;
  /** The relay accepted the message; `session` is set if the message created the session. */
  accepted(own: Message, session: Session | undefined): void;
}

export class Prompts {
  readonly #host: Host;
  readonly #talk: Talk;
  readonly #turns = new Set<Turn>();

  constructor(host: Host, talk: Talk) {
    this.#host = host;
    this.#talk = talk;
  }

  get count(): number {
    return this.#turns.size;
  }

  /** `onSent` is called once, after the relay accepts or refuses the prompt. */
  async prompt(instruction: Instruction, onSent: () => void): Promise<PromptResponse> {
    const turn = new Turn();
    this.#turns.add(turn);
    try {
      this.#send(turn, instruction, onSent).catch((error: unknown) => turn.reject(error as Error));
      return await turn.ended;
    } finally {
      this.#turns.delete(turn);
    }
  }

  cancel(): void {
    for (const turn of this.#turns) {
      if (turn.isCancelled) continue;
      turn.isCancelled = true;
      void this.#cancel(turn);
      void pause(cancelMs, this.#host.signal).then(() => turn.resolve({ stopReason: 'cancelled' }));
    }
  }

  /** Rejects every prompt with this error. */
  end(error: Error): void {
    for (const turn of this.#turns) turn.reject(error);
  }

  /** Records text of the agent that was sent to the client. */
  record(text: string): void {
    for (const turn of this.#turns) turn.record(text);
  }

  /** Applies the current session to all turns. */
  async see(session: Session): Promise<void> {
    for (const turn of this.#turns) await this.#advance(turn, session);
  }

  async #send(turn: Turn, instruction: Instruction, onSent: () => void): Promise<void> {
    const { client, queueSeconds: queueTtlSeconds } = this.#host;
    const idempotencyKey = `acp-prompt-${crypto.randomUUID()}`;
    const { content, desk } = instruction;
    try {
      const common = { queueTtlSeconds, ...(await attach(this.#host, instruction)) };
      // The first prompt creates the session; concurrent prompts wait for it.
      const sent = await this.#talk.run(() =>
        this.#host.persist<{ taskId: string; message: Message; session?: Session }>(async () => {
          const id = this.#talk.sessionId();
          if (id === undefined) {
            const { taskId, message, ...session } = await client.call('createSession', {
              body: { ...this.#newSession(), ...common, message: content },
              idempotencyKey,
            });
            return { taskId, message, session };
          }
          const body = { ...common, content, answers: null, ...(desk ? { desk } : {}) };
          return client.call('sendMessage', { params: { id }, body, idempotencyKey });
        }),
      );
      turn.taskId = sent.taskId;
      this.#talk.accepted(sent.message, sent.session);
    } finally {
      onSent();
    }
    if (turn.isCancelled) void this.#cancel(turn);
  }

  #newSession() {
    const { deviceId, agentType } = this.#host.device;
    const { cwd, id } = this.#talk.begin;
    const pendingId = pendingIdOf(id);
    const settings = this.#talk.settings();
    return {
      deviceId,
      agentType,
      ...(cwd === '' ? {} : { projectPath: cwd }),
      ...(pendingId === undefined ? {} : { pendingId }),
      ...(settings.length === 0 ? {} : { settings: [...settings] }),
    };
  }

  async #cancel(turn: Turn): Promise<void> {
    const { taskId } = turn;
    const id = this.#talk.sessionId();
    if (taskId === undefined || id === undefined) return;
    const { client, persist } = this.#host;
    const isRefusal = (error: unknown) => error instanceof RelayError && [404, 409].includes(error.status);
    try {
      await persist(() => client.call('removeQueued', { params: { id, taskId } }));
      turn.resolve({ stopReason: 'cancelled' });
      return;
    } catch (error) {
      if (!isRefusal(error)) return this.#host.log('A prompt could not be cancelled.');
    }
    try {
      // The relay sent it already: its task runs, waits for an answer, or has settled while another app's turn runs.
      await persist(() => client.call('cancelSession', { params: { id }, body: { which: 'running', taskId } }));
    } catch (error) {
      if (!isRefusal(error)) this.#host.log('A prompt could not be cancelled.');
    }
  }

  async #advance(turn: Turn, session: Session): Promise<void> {
    for (let follows = true; follows;) {
      follows = false;
      if (turn.taskId === undefined || turn.isEnding) return;
      const { lastTask, queue, runningSince, status } = session;
      const now = [turn.taskId, lastTask?.id, lastTask?.state, status, queue?.v, runningSince].join(' ');
      if (turn.seen === now) return;
      const task =
        lastTask?.id === turn.taskId
          ? lastTask
          : await this.#host.client.call('readTask', { params: { id: turn.taskId } });
      const step = stepOf(task, session);
      turn.seen = now;
      if (step.kind === 'follow') {
        turn.taskId = step.taskId;
        follows = true;
        if (turn.isCancelled) void this.#cancel(turn);
      } else if (step.kind === 'ended') {
        turn.isEnding = true;
        void this.#finish(turn, step.state, session.limit?.resetsAt).catch((error: unknown) =>
          turn.reject(error as Error),
        );
      }
    }
  }

  /** Sends the remaining texts, then settles the turn. */
  async #finish(turn: Turn, state: Parameters<typeof endOf>[0], resetsAt: string | undefined): Promise<void> {
    const { client, persist, signal } = this.#host;
    const id = turn.taskId!;
    const until = Date.now() + lastWordsMs;
    let isWhole = false;
    while (!this.#talk.isPlain()) {
      isWhole = await this.#talk.run(() => this.#talk.catchUp());
      if (isWhole || signal.aborted || Date.now() > until) break;
      await pause(1000, signal);
    }
    const task = await persist(() => client.call('readTask', { params: { id } }));
    const result = task.result ?? '';
    await this.#talk.run(async () => {
      // The daemon keeps no items or went offline: use the result of the task.
      if (isWhole || turn.shown.includes(squashed(result))) return;
      const message = { uuid: `result:${id}`, role: 'AGENT', content: result, timestamp: '' } as const;
      await this.#talk.show(message);
    });
    const end = endOf(state, task, turn.isCancelled, resetsAt);
    if (end instanceof Error) turn.reject(end);
    else turn.resolve(end);
  }
}
