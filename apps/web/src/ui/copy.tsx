/** Text to take along, with a button that copies it. */
import { useEffect, useState } from 'react';
import { Check, Copy as CopyIcon } from 'lucide-react';

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
      <button type="button" onClick={() => void copy()}>
        {copied === 'yes' ? <Check className="i" aria-hidden /> : <CopyIcon className="i" aria-hidden />}
        {copied === 'yes' ? 'Copied' : 'Copy'}
        <span className="for-readers"> {label}</span>
      </button>
      <span className="for-readers" role="status">
        {copied === 'yes' && 'Copied'}
        {copied === 'failed' && 'Select and copy it yourself'}
      </span>
    </div>
  );
}
