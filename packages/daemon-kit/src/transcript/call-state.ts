/** The state of a call and its texts after an update (rules, 20.4 and 20.5). Pure. */
import { type BookedCall, type Source, isEnd } from './call-book.ts';
import { type Fields, listOf, recordOf, textOf, wordsOf } from './content.ts';

const words: Readonly<Record<string, string>> = { in_progress: 'running' };
const stateOf = (update: Fields): string => {
  const status = wordsOf(update.status);
  return words[status] ?? status;
};

export const isRunning = (status: string): boolean => status === 'pending' || status === 'running';

/** Only the agent's own report completes a call, and no report undoes a No of the person. */
export function statusAfter(call: BookedCall | undefined, before: string, update: Fields, source: Source): string {
  const reported = stateOf(update);
  // A permission shows a call that has not run.
  if (source === 'question') return call ? before : 'pending';
  if (call?.rejected) return 'rejected';
  if (reported === '') return before === '' ? 'pending' : before;
  if (before === '' || isRunning(before)) return reported;
  if (before === 'cancelled') return reported === 'completed' ? reported : before;
  if (before === 'unknown') return reported === 'pending' ? before : reported;
  return isEnd(reported) ? reported : before;
}

/** The text in the content of an update; undefined when the update leaves the content as it is. */
function textIn(update: Fields): string | undefined {
  if (!Array.isArray(update.content)) return undefined;
  const texts = listOf(update.content).filter(({ type }) => type === 'content');
  return texts.map(({ content }) => bare(textOf(content))).join('\n');
}

/** Removes the fence that some agents put around the output of a program. */
const bare = (text: string) => /^```\w*\n([^]*?)\n?```$/.exec(text)?.[1] ?? text;

interface CallTexts {
  /** The description, where this update has one. */
  about?: string;
  /** Takes the place of the output so far. */
  output?: string;
  /** More output. */
  piece: string;
}

/**
 * The texts of an update. The content of an announcement, of a call that has not begun and of a permission describes the call; later content
 * is its output. `about`: the description so far. `status`: the state after the update.
 */
export function textsOf(update: Fields, source: Source, about: string, status: string): CallTexts {
  const piece = pieceOfTerminal(update);
  const text = textIn(update);
  if (text === undefined) return { piece };
  const describes = source === 'question' || status === 'pending' || (source === 'call' && !isEnd(update.status));
  if (describes) return text.trim() === '' ? { piece } : { about: text, piece };
  // The agent sends the whole call again with its result: its description is still not output.
  return { output: text !== '' && text === about ? '' : text, piece };
}

/** Streamed terminal output: of the agent's own terminal (two spellings), or of a terminal it only shows. */
function pieceOfTerminal({ _meta: meta }: Fields): string {
  const { terminal_output_delta: delta, terminal_output: shown } = recordOf(meta);
  return [delta, shown].map((one) => (typeof one === 'string' ? one : wordsOf(recordOf(one).data))).join('');
}
