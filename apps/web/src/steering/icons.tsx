/** Icons of messages during a turn, copied from Lucide 1.75 (LICENSE.lucide). */
import { icon } from '../ui/icon.tsx';

export const Zap = icon(
  'zap',
  <path d="M15.914 4a1.5 1.5 0 00-2.474-1.561l-9 9A1.5 1.5 0 005.5 14h4.002a.5.5 0 01.471.666L8.086 20a1.5 1.5 0 002.475 1.56l9-9A1.5 1.5 0 0018.5 10h-3.997a.5.5 0 01-.472-.667z" />,
);
export const ListPlus = icon(
  'list-plus',
  <>
    <path d="M16 5H3" />
    <path d="M11 12H3" />
    <path d="M16 19H3" />
    <path d="M18 9v6" />
    <path d="M21 12h-6" />
  </>,
);
