import { words } from '../catalogue.ts';
/** Text to take along, with a button that copies it. */
import { useEffect, useState } from 'react';
import { Check, Copy as CopyIcon } from './icons.tsx';

const shownMs = 1500;

export function Copy({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState<'yes' | 'failed'>();
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied('yes'),
      () => setCopied('failed'),
    );
  useEffect(() => {
    if (copied !== 'yes') return undefined;
    const timer = setTimeout(() => setCopied(undefined), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <div className="copy">
      <code tabIndex={0} role="group" aria-label={label}>
        {text}
      </code>
      <button type="button" aria-label={words.common.copyOf(label)} onClick={() => void copy()}>
        {copied === 'yes' ? <Check className="i" aria-hidden /> : <CopyIcon className="i" aria-hidden />}
        {copied === 'yes' ? words.common.copied : words.common.copy}
      </button>
      <span className="sr" role="status">
        {copied === 'yes' && words.common.copied}
        {copied === 'failed' && words.common.copyFailed}
      </span>
    </div>
  );
}
