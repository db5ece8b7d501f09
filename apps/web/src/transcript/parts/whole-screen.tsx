/** Changes on the whole screen, file by file. */
import { useEffect, useRef } from 'react';
import { ChevronLeft, ChevronRight, X } from '../../ui/icons.tsx';
import type { Diff } from '@relay/protocol';
import { words } from '../../catalogue.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { DiffCounts, DiffView } from './diff-view.tsx';

interface DiffScreenProps {
  diffs: readonly Diff[];
  index: number;
  onIndex: (index: number) => void;
  onDone: () => void;
}

export default function DiffScreen({ diffs, index, onIndex, onDone }: DiffScreenProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    body.current?.scrollTo(0, 0);
  }, [index]);
  const diff = diffs[index]!;
  const step = (by: 1 | -1) => {
    const next = index + by;
    return (
      <IconButton
        icon={by === 1 ? ChevronRight : ChevronLeft}
        label={by === 1 ? words.diff.next : words.diff.previous}
        aria-disabled={!diffs[next]}
        onClick={() => diffs[next] && onIndex(next)}
      />
    );
  };
  return (
    <dialog ref={dialog} className="screen" aria-label={words.diff.region(diff.path)} onClose={onDone}>
      <header>
        <IconButton icon={X} label={words.diff.close} onClick={() => dialog.current?.close()} />
        <div className="grow">
          <b className="cut" dir="ltr" title={diff.path}>
            {diff.path.split('/').at(-1)}
          </b>
          <span className="where num">
            <DiffCounts diff={diff} />
            {diffs.length > 1 && <span role="status">{words.diff.fileOf(index + 1, diffs.length)}</span>}
          </span>
        </div>
        {diffs.length > 1 && step(-1)}
        {diffs.length > 1 && step(1)}
      </header>
      <div className="screen-body" ref={body}>
        <DiffView key={index} diff={diff} isWhole />
      </div>
    </dialog>
  );
}
