/** The attached images of a message, and why the last one was not taken. */
import { words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { X } from '../ui/icons.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Attached, AttachedProps } from './attached.ts';

export function AttachedImages({ images, onRemoved }: AttachedProps) {
  const remove = (image: Attached) => {
    images.remove(image);
    onRemoved?.();
  };
  return (
    <div className="images">
      {images.problem !== undefined && <Notice kind="bad">{images.problem}</Notice>}
      {images.all.length > 0 && (
        <ul aria-label={words.images.attached}>
          {images.all.map((image) => (
            <li key={image.previewUrl}>
              <img src={image.previewUrl} alt={image.name} />
              <IconButton icon={X} label={words.images.remove(image.name)} onClick={() => remove(image)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
