/** The sign of use, copied from Lucide 1.75 (ui/LICENSE.lucide). */
import { icon } from '../ui/icon.tsx';

export const Usage = icon(
  'gauge',
  <>
    <path d="m12 14 4-4" />
    <path d="M3.34 19a10 10 0 1 1 17.32 0" />
  </>,
);
