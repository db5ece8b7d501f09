/** Messages and answers of an attached terminal: each is sent exactly once, however long the relay is unreachable. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { DeskChoice, Prompt } from '@relay/protocol';
import { pause } from '@relay/client';
import { Failure } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import type { Relay } from '../relay.ts';
import type { Editor } from './editor.ts';

interface SendingOptions {
  relay: Relay;
  editor: Pick<Editor, 'text' | 'set'>;
  idOf: () => string;
  /** Shows a sentence below the conversation. */
  print: (text: string) => void;
  signal: AbortSignal;
}

const againMs = 2000;

export function createSending({ relay, editor, idOf, print, signal }: SendingOptions) {
  /** Retries until the relay accepts or refuses. After a refusal the text returns to the editor. */
  const delivered = async (content: string, send: (idempotencyKey: string) => Promise<unknown>): Promise<void> => {
    const key = randomUUID();
    while (!signal.aborted) {
      try {
        await send(key);
        return print('');
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (error.exitCode !== exitCodes.temporary) {
          if (editor.text() === '') editor.set(content);
          return print(error.message);
        }
        print('Not sent yet: waiting for the relay.');
        await pause(againMs, signal);
      }
    }
  };
  const send = (content: string, desk?: DeskChoice, answers?: string) =>
    delivered(content, (idempotencyKey) =>
      relay.call('sendMessage', {
        params: { id: idOf() },
        body: { content, ...(desk ? { desk } : {}), ...(answers === undefined ? {} : { answers }) },
        idempotencyKey,
      }),
    );
  const answer = ({ id: uuid, digest }: Prompt, option: Prompt['options'][number]) => {
    if (uuid === undefined || option.id === undefined) return send(option.label, undefined, uuid);
    const shown = digest === undefined ? {} : { digest };
    const body = { option: option.id, on: `in a terminal on ${hostname()}`, ...shown };
    return delivered('', (idempotencyKey) =>
      relay.call('answerPrompt', { params: { id: idOf(), uuid }, body, idempotencyKey }),
    );
  };
  return { send, answer };
}
