/** Stops the agent. If messages wait, a menu asks whether to cancel them too. */
import { useId, useRef } from 'react';
import { Square } from '../transcript/icons.tsx';
import type { Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import type { Action } from '../ui/action.ts';
import { isWorking } from './activity.tsx';
import type { MessageQueue } from './waiting.ts';

interface StopButtonProps {
  session: Session;
  queue: MessageQueue;
  cancel: Action<[which?: 'running' | 'all']>;
  /** The menu, which had the focus, is gone. */
  onChosen: () => void;
}

export function StopButton({ session, queue, cancel, onChosen }: StopButtonProps) {
  const hasQueue = queue.tasks.length > 0;
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const stop = (which: 'running' | 'all') => () => {
    menu.current?.hidePopover();
    onChosen();
    void cancel.run(which);
  };
  return (
    <>
      {hasQueue && (
        <div className="menu up" id={id} popover="auto" ref={menu}>
          <button type="button" onClick={stop('running')}>
            {words.dock.stopThis}
          </button>
          <button type="button" onClick={stop('all')}>
            {words.dock.stopAll}
          </button>
        </div>
      )}
      {isWorking(session) && (
        <button
          type="button"
          className="icon"
          aria-label={words.dock.stop}
          title={words.dock.stopTitle}
          aria-disabled={cancel.busy}
          {...(hasQueue ? { popoverTarget: id } : { onClick: () => void cancel.run() })}
        >
          {cancel.busy ? <span className="spinner" aria-hidden /> : <Square className="i" aria-hidden />}
        </button>
      )}
    </>
  );
}
