/** Completed calls in a row that only read: one line, the calls inside. */
import { useId, useState } from 'react';
import { ChevronDown } from '../icons.tsx';
import { ChevronRight } from '../../ui/icons.tsx';
import { lasted, words } from '../../catalogue.ts';
import { Tool } from './tool.tsx';
import type { ToolCall } from '../rows.ts';

export function FoldedTools({ calls, tookMs }: { calls: readonly ToolCall[]; tookMs: number | undefined }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const counts = new Map<string, number>();
  for (const { tool } of calls) {
    const does = tool.does ?? '';
    counts.set(does, (counts.get(does) ?? 0) + 1);
  }
  return (
    <>
      <button
        type="button"
        className="tool bare"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? <ChevronDown className="i" aria-hidden /> : <ChevronRight className="i" aria-hidden />}
        <span className="v cut">{words.tool.folded(counts)}</span>
        {tookMs !== undefined && tookMs >= 1000 && <span className="r num">{lasted(tookMs)}</span>}
      </button>
      {isOpen && (
        <div className="tools" id={id}>
          {calls.map(({ uuid, at, tool }) => (
            <Tool key={uuid} uuid={uuid} tool={tool} at={at} />
          ))}
        </div>
      )}
    </>
  );
}
