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

export interface Dragged {
  taskId: string;
  /** The place it would have now. */
  index: number;
}

/** Handlers of a handle inside of an `li`; `onDrop` only after it was really moved. */
export function useDrag(onDrop: (dragged: Dragged) => void) {
  const [dragged, setDragged] = useState<Dragged>();
  const start = useRef<{ taskId: string; y: number }>(undefined);
  /** The click that follows is the end of a drag. */
  const wasDrag = useRef(false);
  const indexAt = (handle: Element, y: number): number => {
    const own = handle.closest('li');
    const others = [...(own?.parentElement?.children ?? [])].filter((one) => one !== own);
    return others.filter((one) => {
      const { top, height } = one.getBoundingClientRect();
      return top + height / 2 < y;
    }).length;
  };
  const end = () => {
    start.current = undefined;
    setDragged(undefined);
  };
  return {
    dragged,
    wasDrag: () => wasDrag.current,
    handle: (taskId: string) => ({
      onPointerDown: ({ currentTarget, pointerId, clientY: y, button }: PointerEvent) => {
        wasDrag.current = false;
        if (button !== 0) return;
        currentTarget.setPointerCapture(pointerId);
        start.current = { taskId, y };
      },
      onPointerMove: ({ currentTarget, clientY }: PointerEvent) => {
        if (!start.current || (!dragged && Math.abs(clientY - start.current.y) < movedPx)) return;
        wasDrag.current = true;
        setDragged({ taskId, index: indexAt(currentTarget, clientY) });
      },
      onPointerUp: () => {
        if (dragged) onDrop(dragged);
        end();
      },
      onPointerCancel: end,
    }),
  };
}
