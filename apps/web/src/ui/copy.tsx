/** Text to take along, with a button that copies it. */
import { useState } from 'react';

export function Copy({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState<'yes' | 'failed'>();
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied('yes'),
      () => setCopied('failed'),
    );
  return (
    <div className="copy">
      <code tabIndex={0} role="group" aria-label={label}>
        {text}
      </code>
      <button type="button" onClick={() => void copy()}>
        Copy<span className="for-readers"> {label}</span>
      </button>
      <span className="copied" role="status">
        {copied === 'yes' && 'Copied'}
        {copied === 'failed' && 'Select it and copy it yourself'}
      </span>
    </div>
  );
}
