/** Questions of agents to the person at this machine (`--ask-at-desk`), one at a time. */
import type { Terminal } from '@relay/machine';
import type { AskAtDesk } from '../agents/acp/at-desk.ts';

/** Begins each line but the first with a bar: a text of an agent cannot imitate a question or its options. */
const quoted = (text: string): string => text.trim().replace(/\r?\n/g, '\n  │ ');

/** Undefined answers, which decline, where no person sits at a terminal: a service, a pipe. */
export function keyboardOf(terminal: Terminal): AskAtDesk {
  let before: Promise<unknown> = Promise.resolve();
  return ({ prompt, result = '', options = [], kind }, signal) => {
    if (!terminal.inIsScreen || !terminal.errIsScreen) return Promise.resolve(undefined);
    const choices = options.map((label, index) => `  ${index + 1}) ${label.replace(/\s/g, ' ')}\n`).join('');
    const details = result.trim() === '' ? '' : `  │ ${quoted(result)}\n`;
    const isPermission = kind === 'permission';
    const text =
      `\nAn agent asks${isPermission ? ' for permission' : ''}: ${quoted(prompt)}\n${details}${choices}` +
      `Type a number${isPermission ? '; anything else declines' : ', or the answer'}: `;
    const answer = before.then(() => (signal.aborted ? undefined : terminal.ask(text, signal)));
    before = answer.catch(() => undefined);
    return answer;
  };
}
