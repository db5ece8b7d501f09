/** A session that a terminal has open as well: a chunk that is loaded with the first such session, and with each conversation. */
import { type ComponentProps, Suspense } from 'react';
import { loadWords } from '../catalogue.ts';
import { loadedLater } from '../ui/loaded-later.tsx';

const Part = loadedLater(async () => (await Promise.all([import('./desk.tsx'), loadWords('desk')]))[0].Desk);

export const Desk = (props: ComponentProps<typeof Part>) => (
  <Suspense>
    <Part {...props} />
  </Suspense>
);
