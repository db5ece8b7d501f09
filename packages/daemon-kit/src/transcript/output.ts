/** The output of a tool as it is shown: all of it while it is short, then its first and last part. Bounded memory. */
import { transcriptLimits } from '@relay/protocol';
import { keepHead, keepTail } from '../bounds.ts';

const { outputHeadBytes, outputTailBytes } = transcriptLimits;
const wholeBytes = outputHeadBytes + outputTailBytes;

export interface Printed {
  add(text: string): void;
  /** Replaces everything before. */
  replace(text: string): void;
  shown(): { output: string; left: number };
  /** Everything so far is shown. */
  whole(): boolean;
}

/** `keep` receives all of an output that is longer than the shown part, in order; `begins`: from its first byte. */
export function createPrinted(keep?: (text: string, begins: boolean) => void): Printed {
  let head = '';
  let tail = '';
  let total = 0;
  const add = (text: string) => {
    const wasWhole = total <= wholeBytes;
    total += Buffer.byteLength(text, 'utf8');
    if (total <= wholeBytes) {
      head += text;
      return;
    }
    keep?.(wasWhole ? head + text : text, wasWhole);
    if (Buffer.byteLength(head, 'utf8') > outputHeadBytes) {
      const first = keepHead(head, outputHeadBytes);
      tail = head.slice(first.length) + tail;
      head = first;
    }
    tail = keepTail(tail + text, outputTailBytes);
  };
  return {
    add,
    replace(text) {
      head = tail = '';
      total = 0;
      add(text);
    },
    whole: () => total <= wholeBytes,
    shown() {
      if (total <= wholeBytes) return { output: head, left: 0 };
      const left = total - Buffer.byteLength(head, 'utf8') - Buffer.byteLength(tail, 'utf8');
      return { output: `${head}\n[… ${left} bytes not shown]\n${tail}`, left };
    },
  };
}
