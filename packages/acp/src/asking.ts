/**
 * Asks the client each open question of a session once. The first answer counts, from this client or another app: if another app answers, the
 * request to the client is cancelled, and a late reply is dropped.
 */
import { RelayError } from '@relay/client';
import type { AnswerPrompt, Prompt, Session } from '@relay/protocol';
import type { Host } from './host.ts';
import { type AskOptions, askingOf } from './questions.ts';

interface AskingDeps {
  host: Host;
  sessionId: () => string | undefined;
  options: (prompt: Prompt) => AskOptions;
  /** The client cannot show this question. */
  onElsewhere: (prompt: Prompt) => Promise<void>;
}

export class Asking {
  readonly #deps: AskingDeps;
  /** By the uuid of the question. The controller aborts when the question closes. */
  readonly #open = new Map<string, AbortController>();
  /** Questions sent to the client as requests since the last history. */
  readonly #requested = new Set<string>();

  constructor(deps: AskingDeps) {
    this.#deps = deps;
  }

  /** Asks new questions, and cancels the requests of closed questions. */
  see({ prompts, prompt }: Pick<Session, 'prompts' | 'prompt'>): void {
    const open = prompts ?? (prompt ? [prompt] : []);
    const uuids = new Set(open.map(({ id }) => id ?? ''));
    for (const [uuid, controller] of this.#open) {
      if (uuids.has(uuid)) continue;
      this.#open.delete(uuid);
      controller.abort();
    }
    for (const one of open) if (!this.#open.has(one.id ?? '')) void this.#ask(one);
  }

  /** Returns true if the client got the question as a request; then the answer does not go out as a message. */
  wasRequested(uuid: unknown): boolean {
    return typeof uuid === 'string' && this.#requested.has(uuid);
  }

  /** The next `see` asks every open question again. */
  forget(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#open.clear();
    this.#requested.clear();
  }

  async #ask(prompt: Prompt): Promise<void> {
    const { host, options, onElsewhere } = this.#deps;
    const controller = new AbortController();
    this.#open.set(prompt.id ?? '', controller);
    try {
      const asking = askingOf(prompt, options(prompt));
      if (asking.how === 'elsewhere') return await onElsewhere(prompt);
      this.#requested.add(prompt.id ?? '');
      const until = controller.signal;
      const answer =
        asking.how === 'permission'
          ? asking.answerOf(await host.askPermission(asking.request, until))
          : asking.answerOf(await host.askForm(asking.request, until));
      if (answer && !until.aborted && prompt.id !== undefined) await this.#answer(prompt.id, answer);
    } catch (error) {
      // The request was cancelled, or the client cannot answer. Other apps can still answer.
      if (!controller.signal.aborted) host.log(`A question was not answered here: ${reasonOf(error)}`);
    }
  }

  async #answer(uuid: string, body: AnswerPrompt): Promise<void> {
    const { host, sessionId } = this.#deps;
    const id = sessionId();
    if (id === undefined) return;
    const idempotencyKey = `acp-answer-${uuid}-${crypto.randomUUID()}`;
    const { clientName: on } = host;
    const given = { params: { id, uuid }, body: { ...body, ...(on === undefined ? {} : { on }) }, idempotencyKey };
    await host.persist(() => host.client.call('answerPrompt', given));
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof RelayError ? error.code : error instanceof Error ? error.name : 'unknown';
