/** The way of files into a message: by drop, by paste, and through the tray, which is a chunk of its own. */
import { type RefObject, Suspense, useRef } from 'react';
import type { Device } from '@relay/protocol';
import type { Images } from '../conversation/attached.ts';
import { dropping, pasting, takesImages } from '../conversation/images.tsx';
import { loadedLater } from '../ui/loaded-later.tsx';
import type { FilesHandle } from './handle.ts';

const FileTray = loadedLater(async () => (await import('./load.ts')).tray());

/** The kinds of attachments that this device takes, and the events of the form and of its field. */
export function useInlet(device: Device | undefined, images: Images) {
  const files = useRef<FilesHandle>(null);
  const takes = takesImages(device);
  const takesFiles = device?.capabilities.includes('files') === true;
  const inlet: Images = takesFiles
    ? { ...images, any: true, add: (all) => files.current?.add(all) }
    : { ...images, add: (all) => images.add(all, device?.name) };
  const isOpen = takes || takesFiles;
  return { files, takes, takesFiles, drop: isOpen && dropping(inlet), paste: isOpen ? pasting(inlet) : undefined };
}

interface FileDoorProps {
  draft: string;
  device: Device | undefined;
  images: Images;
  files: RefObject<FilesHandle | null>;
  /** The place of the chips. */
  above: HTMLElement | null;
  setText: (change: (now: string) => string) => void;
}

export const FileDoor = ({ draft, device, images, files, above, setText }: FileDoorProps) =>
  device && (
    <Suspense>
      <FileTray
        key={device.id}
        {...{ draft, device, above, handle: files, images: takesImages(device) ? images : undefined }}
        onAsk={(sentence) => setText((now) => (now === '' ? sentence : `${now}\n${sentence}`))}
      />
    </Suspense>
  );
