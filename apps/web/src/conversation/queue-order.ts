/** The order of queued messages: which can move, where to, and a chip that is dragged by its handle. */
import { type PointerEvent, useRef, useState } from 'react';
import type { ChangeQueued, QueuedTask } from '@relay/protocol';

/** The first message of a session and answers go before all others (rules, 2.16). */
export const isFixed = ({ kind, answers }: QueuedTask): boolean => kind === 'start' || answers !== undefined;

/** The order with one task at another place; undefined where it cannot be, or already is, there. */
export function moved(
  tasks: readonly QueuedTask[],
  taskId: string,
  index: number,
): { tasks: readonly QueuedTask[]; body: ChangeQueued } | undefined {
  const from = tasks.findIndex((task) => task.taskId === taskId);
  const task = tasks[from];
  const first = tasks.filter(isFixed).length;
  const to = Math.min(Math.max(index, first), tasks.length - 1);
  if (!task || isFixed(task) || to === from) return undefined;
  const others = tasks.filter((one) => one !== task);
  const behind = others[to];
  const body = behind ? { before: behind.taskId } : { after: others[others.length - 1]!.taskId };
  return { tasks: [...others.slice(0, to), task, ...others.slice(to)], body };
}

/** Less is a tap. */
const movedPx = 6;
const ends = ['pointerup', 'pointercancel'] as const;

interface Dragged {
  taskId: string;
  /** The place it would have now. */
  index: number;
}

/** Handlers of a handle inside of an `li`; `onDrop` only after it was really moved. */
export function useDrag(onDrop: (dragged: Dragged) => void) {
  const [dragged, setDragged] = useState<Dragged>();
  /** The following click belongs to the drag. */
  const wasDrag = useRef(false);
  const indexAt = (handle: Element, y: number): number => {
    const own = handle.closest('li');
    const others = [...(own?.parentElement?.children ?? [])].filter((one) => one !== own && !one.matches('.late'));
    return others.filter((one) => {
      const { top, height } = one.getBoundingClientRect();
      return top + height / 2 < y;
    }).length;
  };
  return {
    dragged,
    wasDrag: () => wasDrag.current,
    handle: (taskId: string) => ({
      onPointerDown: ({ currentTarget: handle, clientY: from, button }: PointerEvent) => {
        wasDrag.current = false;
        if (button !== 0) return;
        let now: Dragged | undefined;
        const onMove = ({ clientY }: globalThis.PointerEvent) => {
          if (!now && Math.abs(clientY - from) < movedPx) return;
          wasDrag.current = true;
          now = { taskId, index: indexAt(handle, clientY) };
          setDragged(now);
        };
        const onEnd = ({ type }: globalThis.PointerEvent) => {
          window.removeEventListener('pointermove', onMove);
          for (const name of ends) window.removeEventListener(name, onEnd);
          if (type === 'pointerup' && now) onDrop(now);
          setDragged(undefined);
        };
        // Of the window: the handle moves in the list while it is dragged, and would lose a pointer that it captured.
        window.addEventListener('pointermove', onMove);
        for (const name of ends) window.addEventListener(name, onEnd);
      },
    }),
  };
}
