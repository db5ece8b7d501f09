/** Changes on the whole screen, file by file: for phones, where a card is too narrow to read code. */
import { type ReactNode, createContext, useCallback, useContext, useEffect, useRef, useState } from 'react';
import { ChevronLeft, ChevronRight, Maximize2, X } from 'lucide-react';
import type { Diff } from '@relay/protocol';
import { words } from '../../catalogue.ts';
import { DiffCounts, DiffFile, DiffView } from './diff-view.tsx';

type Open = (diffs: readonly Diff[], index: number) => void;
const OpenContext = createContext<Open | undefined>(undefined);

/** The screen belongs to the page: the row of the log that opened it may go out of sight meanwhile. */
export function DiffScreens({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ diffs: readonly Diff[]; index: number }>();
  const open = useCallback<Open>((diffs, index) => setShown({ diffs, index }), []);
  return (
    <OpenContext value={open}>
      {children}
      {shown && (
        <DiffScreen
          diffs={shown.diffs}
          index={shown.index}
          onIndex={(index) => setShown({ ...shown, index })}
          onDone={() => setShown(undefined)}
        />
      )}
    </OpenContext>
  );
}

/** The files of one change, one under the other. `isNamed`: the path of a single file is written elsewhere. */
export function Diffs({ diffs, isNamed = false }: { diffs: readonly Diff[]; isNamed?: boolean }) {
  const open = useContext(OpenContext);
  return diffs.map((diff, index) => (
    <div key={index} className="of-file">
      {(diffs.length > 1 || !isNamed) && <DiffFile diff={diff} />}
      <DiffView diff={diff} />
      {open && (
        <button
          type="button"
          className="ghost small to-screen"
          aria-label={words.diff.onScreen(diff.path)}
          onClick={() => open(diffs, index)}
        >
          <Maximize2 className="i" aria-hidden /> {words.diff.screen}
        </button>
      )}
    </div>
  ));
}

interface DiffScreenProps {
  diffs: readonly Diff[];
  index: number;
  onIndex: (index: number) => void;
  onDone: () => void;
}

function DiffScreen({ diffs, index, onIndex, onDone }: DiffScreenProps) {
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
      <button
        type="button"
        className="ghost icon"
        aria-label={by === 1 ? words.diff.next : words.diff.previous}
        aria-disabled={!diffs[next]}
        onClick={() => diffs[next] && onIndex(next)}
      >
        {by === 1 ? <ChevronRight className="i" aria-hidden /> : <ChevronLeft className="i" aria-hidden />}
      </button>
    );
  };
  return (
    <dialog ref={dialog} className="screen" aria-label={words.diff.region(diff.path)} onClose={onDone}>
      <header>
        <button
          type="button"
          className="ghost icon"
          aria-label={words.diff.close}
          onClick={() => dialog.current?.close()}
        >
          <X className="i" aria-hidden />
        </button>
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
        <DiffView key={index} diff={diff} />
      </div>
    </dialog>
  );
}
