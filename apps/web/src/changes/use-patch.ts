/** The loaded differences as one patch. */
import { useCallback, useState } from 'react';
import type { FileDiff } from '@relay/protocol';
import { patchOf } from '@relay/protocol/plain';

/** Another key, such as another comparison, begins without differences. */
export function usePatch(key: string) {
  const [loaded, setLoaded] = useState<{ key: string; patches: ReadonlyMap<string, string> }>();
  const add = useCallback(
    (diff: FileDiff) =>
      setLoaded((before) => ({
        key,
        patches: new Map(before?.key === key ? before.patches : []).set(diff.path, patchOf(diff)),
      })),
    [key],
  );
  const text = loaded?.key === key ? [...loaded.patches.values()].join('') : '';
  return { add, copy: text === '' ? undefined : () => void navigator.clipboard.writeText(text) };
}
