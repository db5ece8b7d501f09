/** Copies exactly this text, and confirms it for a moment. */
import { useEffect, useRef, useState } from 'react';
import { Check, Copy } from '../../ui/icons.tsx';
import { words } from '../../catalogue.ts';

const shownForMs = 1500;

export function CopyButton({ text, label, className = 'xs' }: { text: string; label?: string; className?: string }) {
  const [shown, setShown] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const say = (what: string) => {
    setShown(what);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(undefined), shownForMs);
  };
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say(words.common.copied),
      () => say(words.code.copyFailed),
    );
  return (
    <button
      type="button"
      className={className}
      {...(label ? { 'aria-label': label, title: label } : {})}
      onClick={() => void copy()}
    >
      {shown === words.common.copied ? <Check className="i" aria-hidden /> : <Copy className="i" aria-hidden />}
      {label === undefined && <span>{shown ?? words.common.copy}</span>}
      <span className="sr" role="status">
        {shown}
      </span>
    </button>
  );
}
