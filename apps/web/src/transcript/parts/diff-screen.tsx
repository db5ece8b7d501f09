/** The changes of a tool or a question, and the way to see them on the whole screen: for phones, where a card is too narrow to read code. */
import { type ReactNode, Suspense, createContext, useCallback, useContext, useState } from 'react';
import { Maximize2 } from '../icons.tsx';
import type { Diff } from '@relay/protocol';
import { words } from '../../catalogue.ts';
import { loadedLater } from '../../ui/loaded-later.tsx';
import { DiffFile, DiffView } from './diff-view.tsx';

const DiffScreen = loadedLater(async () => (await import('./whole-screen.tsx')).default);

type Open = (diffs: readonly Diff[], index: number) => void;
const OpenContext = createContext<Open | undefined>(undefined);

/** The screen belongs to the page: the log can drop the row that opened it. */
export function DiffScreens({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ diffs: readonly Diff[]; index: number }>();
  const open = useCallback<Open>((diffs, index) => setShown({ diffs, index }), []);
  return (
    <OpenContext value={open}>
      {children}
      {shown && (
        <Suspense>
          <DiffScreen
            diffs={shown.diffs}
            index={shown.index}
            onIndex={(index) => setShown({ ...shown, index })}
            onDone={() => setShown(undefined)}
          />
        </Suspense>
      )}
    </OpenContext>
  );
}

interface DiffsProps {
  diffs: readonly Diff[];
  /** The path of a single file is written elsewhere. */
  isNamed?: boolean;
  /** The change was made. */
  isDone?: boolean;
}

/** The files of one change, one under the other. */
export function Diffs({ diffs, isNamed = false, isDone = false }: DiffsProps) {
  const open = useContext(OpenContext);
  return diffs.map((diff, index) => (
    <div key={index} className="of-file">
      {(diffs.length > 1 || !isNamed) && <DiffFile diff={diff} isDone={isDone} />}
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
