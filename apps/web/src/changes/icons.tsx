/** Icons of this page, drawn as in Lucide 1.75 (ui/LICENSE.lucide). */
import type { Change } from '@relay/protocol';
import { type IconComponent, icon } from '../ui/icon.tsx';
import { Image } from '../transcript/icons.tsx';

const sheet = (
  <>
    <path d="M15 2H6a2 2 0 0 0-2 2v16a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V7Z" />
    <path d="M14 2v4a2 2 0 0 0 2 2h4" />
  </>
);
const fileWith = (name: string, d: string): IconComponent =>
  icon(
    name,
    <>
      {sheet}
      <path d={d} />
    </>,
  );

export const FileDiffIcon = fileWith('file-diff', 'M9 10h6M12 13V7M9 17h6');
export const FileText = fileWith('file-text', 'M10 9H8M16 13H8M16 17H8');
const FilePlus = fileWith('file-plus', 'M9 15h6M12 18v-6');
const FileMinus = fileWith('file-minus', 'M9 15h6');
const FileOutput = fileWith('file-output', 'M8 15h7m-3-3 3 3-3 3');
export const FileIcon = icon('file', sheet);
const Lock = icon(
  'lock',
  <>
    <rect width="18" height="11" x="3" y="11" rx="2" ry="2" />
    <path d="M7 11V7a5 5 0 0 1 10 0v4" />
  </>,
);
export const GitBranch = icon(
  'git-branch',
  <>
    <line x1="6" x2="6" y1="3" y2="15" />
    <circle cx="18" cy="6" r="3" />
    <circle cx="6" cy="18" r="3" />
    <path d="M18 9a9 9 0 0 1-9 9" />
  </>,
);
export const GitCommit = icon(
  'git-commit-horizontal',
  <>
    <circle cx="12" cy="12" r="3" />
    <path d="M3 12h6M15 12h6" />
  </>,
);
export const RefreshCw = icon(
  'refresh-cw',
  <>
    <path d="M3 12a9 9 0 0 1 9-9 9.75 9.75 0 0 1 6.74 2.74L21 8" />
    <path d="M21 3v5h-5" />
    <path d="M21 12a9 9 0 0 1-9 9 9.75 9.75 0 0 1-6.74-2.74L3 16" />
    <path d="M8 16H3v5" />
  </>,
);
export const ChevronUp = icon('chevron-up', <path d="m18 15-6-6-6 6" />);

const byChange: Readonly<Record<string, IconComponent>> = {
  add: FilePlus,
  delete: FileMinus,
  move: FileOutput,
};

export const isPicture = (path: string): boolean => /\.(?:png|jpe?g|gif|webp)$/i.test(path);

/** The icon of a changed file. */
export function iconOf({ change, path, hidden }: Change): IconComponent {
  if (hidden === 'secret') return Lock;
  return isPicture(path) ? Image : (byChange[change] ?? FileDiffIcon);
}
