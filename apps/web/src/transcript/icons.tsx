/** Icons that only a conversation shows, copied from Lucide 1.75 (ui/LICENSE.lucide). They load with that page. */
import { icon } from '../ui/icon.tsx';

export const ArrowDown = icon(
  'arrow-down',
  <>
    <path d="M12 5v14" />
    <path d="m19 12-7 7-7-7" />
  </>,
);
export const ArrowUp = icon(
  'arrow-up',
  <>
    <path d="m5 12 7-7 7 7" />
    <path d="M12 19V5" />
  </>,
);
export const Ban = icon(
  'ban',
  <>
    <circle cx="12" cy="12" r="10" />
    <path d="M4.929 4.929 19.07 19.071" />
  </>,
);
export const BookOpen = icon(
  'book-open',
  <>
    <path d="M12 5v16" />
    <path d="M20.001 19A2 2 0 0022 17V5a2 2 0 00-1.999-2L16 3.002A5 5 0 0012 5a5 5 0 00-4-2H4a2 2 0 00-2 2v12a2 2 0 001.999 2H8a5 5 0 014 2 5 5 0 014-2z" />
  </>,
);
export const Brain = icon(
  'brain',
  <>
    <path d="M12 18V5" />
    <path d="M15 13a4.17 4.17 0 01-3-4 4.17 4.17 0 01-3 4" />
    <path d="M17.707 6.294A3 3 0 1012 5a3 3 0 10-5.707 1.294" />
    <path d="M17.996 5.125a4 4 0 012.526 5.77" />
    <path d="M18 18a4 4 0 002-7.465" />
    <path d="M19.967 17.482a4 4 0 11-7.967.517 4 4 0 11-7.967-.517" />
    <path d="M6 18a4 4 0 01-2-7.465" />
    <path d="M6.004 5.125a4 4 0 00-2.526 5.77" />
  </>,
);
export const ChevronDown = icon('chevron-down', <path d="m6 9 6 6 6-6" />);
export const Circle = icon('circle', <circle cx="12" cy="12" r="10" />);
export const CircleDot = icon(
  'circle-dot',
  <>
    <circle cx="12" cy="12" r="1" />
    <circle cx="12" cy="12" r="10" />
  </>,
);
export const Globe = icon(
  'globe',
  <>
    <circle cx="12" cy="12" r="10" />
    <path d="M12 2a14.5 14.5 0 0 0 0 20 14.5 14.5 0 0 0 0-20" />
    <path d="M2 12h20" />
  </>,
);
export const Hand = icon(
  'hand',
  <>
    <path d="M18 11V6a2 2 0 0 0-2-2a2 2 0 0 0-2 2" />
    <path d="M14 10V4a2 2 0 0 0-2-2a2 2 0 0 0-2 2v2" />
    <path d="M10 10.5V6a2 2 0 0 0-2-2a2 2 0 0 0-2 2v8" />
    <path d="M18 8a2 2 0 1 1 4 0v6a8 8 0 0 1-8 8h-2c-2.8 0-4.5-.86-5.99-2.34l-3.6-3.6a2 2 0 0 1 2.83-2.82L7 15" />
  </>,
);
export const Image = icon(
  'image',
  <>
    <rect width="18" height="18" x="3" y="3" rx="2" ry="2" />
    <circle cx="9" cy="9" r="2" />
    <path d="m21 15-3.086-3.086a2 2 0 0 0-2.828 0L6 21" />
  </>,
);
export const ImagePlus = icon(
  'image-plus',
  <>
    <path d="M16 5h6" />
    <path d="M19 2v6" />
    <path d="M21 11.5V19a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h7.5" />
    <path d="m21 15-3.086-3.086a2 2 0 0 0-2.828 0L6 21" />
    <circle cx="9" cy="9" r="2" />
  </>,
);
export const Info = icon(
  'info',
  <>
    <circle cx="12" cy="12" r="10" />
    <path d="M12 16v-4" />
    <path d="M12 8h.01" />
  </>,
);
export const ListChecks = icon(
  'list-checks',
  <>
    <path d="M13 5h8" />
    <path d="M13 12h8" />
    <path d="M13 19h8" />
    <path d="m3 17 2 2 4-4" />
    <path d="m3 7 2 2 4-4" />
  </>,
);
export const LoaderCircle = icon('loader-circle', <path d="M21 12a9 9 0 1 1-6.219-8.56" />);
export const Maximize2 = icon(
  'maximize-2',
  <>
    <path d="M15 3h6v6" />
    <path d="m21 3-7 7" />
    <path d="m3 21 7-7" />
    <path d="M9 21H3v-6" />
  </>,
);
export const Pencil = icon(
  'pencil',
  <>
    <path d="M21.174 6.812a1 1 0 0 0-3.986-3.987L3.842 16.174a2 2 0 0 0-.5.83l-1.321 4.352a.5.5 0 0 0 .623.622l4.353-1.32a2 2 0 0 0 .83-.497z" />
    <path d="m15 5 4 4" />
  </>,
);
export const RotateCw = icon(
  'rotate-cw',
  <>
    <path d="M21 12a9 9 0 1 1-9-9c2.52 0 4.93 1 6.74 2.74L21 8" />
    <path d="M21 3v5h-5" />
  </>,
);
export const Square = icon('square', <rect width="18" height="18" x="3" y="3" rx="2" />);
export const Terminal = icon(
  'terminal',
  <>
    <path d="M12 19h8" />
    <path d="m4 17 6-6-6-6" />
  </>,
);
export const TriangleAlert = icon(
  'triangle-exclamation-point',
  <>
    <path d="m21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3" />
    <path d="M12 9v4" />
    <path d="M12 17h.01" />
  </>,
);
export const WifiOff = icon(
  'wifi-off',
  <>
    <path d="M12 20h.01" />
    <path d="M8.5 16.429a5 5 0 0 1 7 0" />
    <path d="M5 12.859a10 10 0 0 1 5.17-2.69" />
    <path d="M19 12.859a10 10 0 0 0-2.007-1.523" />
    <path d="M2 8.82a15 15 0 0 1 4.177-2.643" />
    <path d="M22 8.82a15 15 0 0 0-11.288-3.764" />
    <path d="m2 2 20 20" />
  </>,
);
export const WrapText = icon(
  'text-wrap',
  <>
    <path d="m16 16-3 3 3 3" />
    <path d="M3 12h14.5a1 1 0 0 1 0 7H13" />
    <path d="M3 19h6" />
    <path d="M3 5h18" />
  </>,
);
export const Wrench = icon(
  'wrench',
  <path d="M14.7 6.3a1 1 0 0 0 0 1.4l1.6 1.6a1 1 0 0 0 1.4 0l3.106-3.105c.32-.322.863-.22.983.218a6 6 0 0 1-8.259 7.057l-7.91 7.91a1 1 0 0 1-2.999-3l7.91-7.91a6 6 0 0 1 7.057-8.259c.438.12.54.662.219.984z" />,
);
