/**
 * The text of a turn as items: chunks join as long as they belong to one message (`splitter.ts`), and each item has its bound.
 */
import { transcriptLimits } from '@relay/protocol';
import { keepHead } from '../bounds.ts';
import { imageName } from '../contents.ts';
import type { StoreChange } from '../store.ts';
import { type Fields, pieceOf, recordOf, wordsOf } from './content.ts';
import type { MakeItem, MapperOptions } from './mapper-options.ts';
import type { Names } from './names.ts';
import { type OpenWords, type WordsKind, messageIdOf } from './splitter.ts';

/** Not part of ACP: a file of an agent records that the person wrote the message in a terminal. */
export const typedInTerminal = { at: 'desk' } as const;

/** A complete text of the agent. */
export interface CompletedText {
  uuid: string;
  content: string;
}

interface Words {
  write: (kind: WordsKind, update: Fields, at: string | undefined) => StoreChange[];
  /** The open text. */
  open: () => OpenWords | undefined;
  /** Closes the open text. */
  close: () => StoreChange[];
  /** The last text of the agent since `forget`. */
  last: () => CompletedText | undefined;
  forget: () => void;
  /** Texts completed since the previous call, in order. */
  takeTexts: () => CompletedText[];
}

interface Open extends OpenWords {
  uuid: string;
  content: string;
  bytes: number;
  /** Only whitespace so far: not an item yet. */
  silent: boolean;
}

export function createWords(
  { keep }: Pick<MapperOptions, 'keep'>,
  {
    names,
    item,
    onTurn,
  }: {
    names: Names;
    item: MakeItem;
    /** In a replay, text of the user begins a turn. */
    onTurn: (uuid: string) => StoreChange[];
  },
): Words {
  let open: Open | undefined;
  let last: CompletedText | undefined;
  let completed: CompletedText[] = [];

  const close = (): StoreChange[] => {
    const closed = open;
    open = undefined;
    if (!closed || closed.silent) return [];
    if (closed.kind === 'text') {
      last = { uuid: closed.uuid, content: closed.content };
      completed.push(last);
    }
    return closed.kind === 'user' ? [] : [{ op: 'set', uuid: closed.uuid, part: { open: null } }];
  };

  const write = (kind: WordsKind, update: Fields, at: string | undefined): StoreChange[] => {
    const messageId = messageIdOf(update);
    const changes: StoreChange[] = [];
    const block = recordOf(update.content);
    if (block.type === 'image' && kind === 'text') return [picture(block, at)];
    const limit = kind === 'thought' ? transcriptLimits.thoughtBytes : transcriptLimits.textBytes;
    let piece = pieceOf(open?.content ?? '', update.content);
    while (piece !== '') {
      const role = kind === 'user' ? 'USER' : 'AGENT';
      open ??= { uuid: '', kind, messageId, content: '', bytes: 0, silent: true };
      open.messageId ??= messageId;
      const head = keepHead(piece, Math.max(limit - open.bytes, 4));
      // Text of the user is one item of any length.
      piece = kind === 'user' ? '' : piece.slice(head.length);
      open.content += head;
      open.bytes += Buffer.byteLength(head, 'utf8');
      if (!open.silent)
        changes.push({ op: 'add', uuid: open.uuid, ...(kind === 'thought' ? { to: kind } : {}), text: head });
      else if (open.content.trim() !== '') {
        open.silent = false;
        open.uuid = names.ofMessage(role, open.messageId, kind);
        if (kind === 'user') changes.push(...onTurn(open.uuid));
        const where = update.at === typedInTerminal.at ? typedInTerminal : {};
        const part = kind === 'user' ? { kind, ...where } : { kind, open: true };
        // Some agents put empty lines in front of a thought when live, but not in their files.
        if (kind === 'thought') open.content = open.content.trimStart();
        changes.push(item(open.uuid, { role, content: open.content, part }, at));
      }
      if (piece !== '') changes.push(...close());
    }
    return changes;
  };

  const picture = (block: Fields, at: string | undefined): StoreChange => {
    const base64 = wordsOf(block.data);
    const [uuid, mime] = [names.beside('image'), wordsOf(block.mimeType).slice(0, 100)];
    const data = keep?.image(uuid, mime, base64) === true ? imageName : '';
    const part = { kind: 'image', data, mime, bytes: bytesOf(base64) };
    return item(uuid, { role: 'AGENT', content: pieceOf('', block).trim(), part }, at);
  };

  return {
    write,
    open: () => open,
    close,
    last: () => (open?.kind === 'text' && !open.silent ? { uuid: open.uuid, content: open.content } : last),
    forget: () => (last = undefined),
    takeTexts() {
      const openText = completed;
      completed = [];
      return openText;
    },
  };
}

/** The number of bytes that a base64 text decodes to. */
export const bytesOf = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64.slice(-2))?.[0].length ?? 0);
