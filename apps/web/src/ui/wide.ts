/** Whether the list of sessions stands beside the page (`frame.css`). */
import { useSyncExternalStore } from 'react';

const wide = typeof matchMedia === 'undefined' ? undefined : matchMedia('(min-width: 720px)');
const subscribe = (listener: () => void) => {
  wide?.addEventListener('change', listener);
  return () => wide?.removeEventListener('change', listener);
};

export const useWide = (): boolean => useSyncExternalStore(subscribe, () => wide?.matches ?? true);
