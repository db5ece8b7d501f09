/** Images that go with a message: chosen or pasted, checked here as the relay will, shown small, each can be taken away again. */
import {
  type ChangeEvent,
  type ClipboardEvent,
  type DragEvent,
  type InputHTMLAttributes,
  type Ref,
  Suspense,
  type SyntheticEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { ImagePlus } from '../transcript/icons.tsx';
import type { Device } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import type { Attached, AttachedProps, Images } from './attached.ts';

/** Why an image is not taken. */
type Refusals = Pick<typeof words.images, 'invalid' | 'tooLarge' | 'unreadable' | 'tooMany' | 'tooMuch'>;

const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const mebibyte = 1024 * 1024;
const limits = { images: 8, bytes: 5 * mebibyte, allBytes: 10 * mebibyte };

const read = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('not readable'));
    reader.readAsDataURL(file);
  });

/** A daemon that declares one of these would declare `images` as well. */
const ours = ['receipts', 'usage', 'context', 'refusals'];

/** Whether the daemon of this device may take images; the relay refuses them where it knows better. */
export const takesImages = (device: Device | undefined): boolean =>
  device !== undefined &&
  (device.capabilities.includes('images') || !device.capabilities.some((name) => ours.includes(name)));

export function useImages(): Images {
  const [all, setAll] = useState<readonly Attached[]>([]);
  const [problem, setProblem] = useState<string>();
  const now = useRef(all);
  const put = (images: readonly Attached[]) => {
    for (const { previewUrl } of now.current)
      if (!images.some((image) => image.previewUrl === previewUrl)) URL.revokeObjectURL(previewUrl);
    now.current = images;
    setAll(images);
  };
  useEffect(() => () => now.current.forEach(({ previewUrl }) => URL.revokeObjectURL(previewUrl)), []);

  const addOne = async (file: File, machine: string | undefined) => {
    const name = file.name === '' ? words.images.one : file.name;
    const refuse = (why: keyof Refusals) => setProblem(words.images[why](name));
    const total = () => now.current.reduce((sum, { bytes }) => sum + bytes, 0);
    if (machine !== undefined && !file.type.startsWith('image/')) return setProblem(words.images.only(machine));
    if (!types.includes(file.type)) return refuse('invalid');
    if (file.size > limits.bytes) return refuse('tooLarge');
    let dataUrl: string;
    try {
      dataUrl = await read(file);
    } catch {
      return refuse('unreadable');
    }
    if (now.current.length >= limits.images) return refuse('tooMany');
    if (total() + file.size > limits.allBytes) return refuse('tooMuch');
    put([...now.current, { name, bytes: file.size, dataUrl, previewUrl: URL.createObjectURL(file) }]);
  };
  return {
    all,
    problem,
    add: (files, machine) => {
      setProblem(undefined);
      void (async () => {
        for (const file of files) await addOne(file, machine);
      })();
    },
    remove: (image) => {
      setProblem(undefined);
      put(now.current.filter(({ previewUrl }) => previewUrl !== image.previewUrl));
    },
    sent: (images) => put(now.current.filter((image) => !images.includes(image))),
  };
}

/** Takes files, and leaves text to the field. A browser would open a dropped file that nothing takes. */
const taking = (images: Images, event: SyntheticEvent, from: DataTransfer) => {
  const files = [...from.files];
  if (files.length === 0) return;
  event.preventDefault();
  images.add(files);
};
export const pasting = (images: Images) => (event: ClipboardEvent) => taking(images, event, event.clipboardData);
/** Images are dropped on the element; text goes where it is dropped. */
export const dropping = (images: Images) => ({
  onDragOver: (event: DragEvent) => event.dataTransfer.types.includes('Files') && event.preventDefault(),
  onDrop: (event: DragEvent) => taking(images, event, event.dataTransfer),
});

const Shown = loadedLater(async () => (await import('./attached-images.tsx')).AttachedImages);

/** The attached images, once there are some; each can be removed. */
export function AttachedImages(props: AttachedProps) {
  const { all, problem } = props.images;
  if (problem === undefined && all.length === 0) return null;
  return (
    <Suspense>
      <Shown {...props} />
    </Suspense>
  );
}

type ImageInputProps = { images: Images; input?: Ref<HTMLInputElement> } & Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'id' | 'aria-label' | 'title'
>;

export function ImageInput({ images, input, ...props }: ImageInputProps) {
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    images.add([...(target.files ?? [])]);
    // The same file may be chosen again.
    target.value = '';
  };
  return <input ref={input} {...props} type="file" accept={types.join(',')} multiple onChange={choose} />;
}

/** A button that opens the files of this device. */
export function ImagePicker({ images, input }: { images: Images; input: Ref<HTMLInputElement> }) {
  const id = useId();
  return (
    <label htmlFor={id} className="button small attach" title={words.images.add}>
      <ImagePlus className="i" aria-hidden /> <span>{words.images.add}</span>
      <ImageInput id={id} input={input} images={images} aria-label={words.images.add} />
    </label>
  );
}
