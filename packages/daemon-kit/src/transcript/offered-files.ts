/** Files that an agent offers in its text or in results of tools, as items: each once in a turn, and a few of them. */
import { transcriptLimits } from '@relay/protocol';
import { fileKey, isFileBlock } from '../file-blocks.ts';
import type { StoreChange } from '../store.ts';
import { type Fields, listOf, pieceOf, recordOf } from './content.ts';
import type { MakeItem, MapperOptions } from './mapper-options.ts';
import type { Names } from './names.ts';

export function createOfferedFiles(
  { keep }: Pick<MapperOptions, 'keep'>,
  { names, item }: { names: Pick<Names, 'beside'>; item: MakeItem },
) {
  const offered = new Set<string>();

  /** The file of a content block as an item; no change if it is not kept, or was offered in this turn. */
  const offer = (block: Fields, at: string | undefined, more: Fields = {}): StoreChange[] => {
    const key = fileKey(block);
    if (!keep?.file || offered.has(key) || offered.size >= transcriptLimits.offeredFiles) return [];
    const uuid = names.beside('file');
    const file = keep.file(uuid, block);
    if (!file) return [];
    offered.add(key);
    const content = pieceOf('', block).trim() || file.name;
    return [item(uuid, { role: 'AGENT', content, part: { kind: 'file', ...file, ...more } }, at)];
  };

  return {
    /** A file of the folder for outgoing files. */
    offer: ({ content, shared }: Fields, at: string | undefined): StoreChange[] =>
      offer(recordOf(content), at, shared === true ? { shared } : {}),
    /** The files in the content of a call. */
    inCall: ({ content }: Fields, at: string | undefined): StoreChange[] =>
      listOf(content)
        .map((one) => recordOf(one.content))
        .filter(isFileBlock)
        .flatMap((block) => offer(block, at)),
    /** The file in an update of the agent's text, instead of the text. The text of a link stays, for readers of messages alone. */
    orElse(update: Fields, at: string | undefined, text: () => StoreChange[]): StoreChange[] {
      const block = recordOf(update.content);
      if (!isFileBlock(block)) return text();
      const file = offer(block, at);
      return file.length > 0 && block.type !== 'resource_link' ? file : [...text(), ...file];
    },
    /** The next turn begins. */
    forget: () => offered.clear(),
  };
}
