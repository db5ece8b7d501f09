/** Copies exactly this text, and confirms it for a moment. */
import { useEffect, useRef, useState } from 'react';
import { Check, Copy } from '../../ui/icons.tsx';
import { words } from '../../catalogue.ts';

const saidForMs = 1500;

export function CopyButton({ text, label, className = 'xs' }: { text: string; label?: string; className?: string }) {
  const [said, setSaid] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const say = (what: string) => {
    setSaid(what);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(undefined), saidForMs);
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
      {said === words.common.copied ? <Check className="i" aria-hidden /> : <Copy className="i" aria-hidden />}
      {label === undefined && <span>{said ?? words.common.copy}</span>}
      <span className="sr" role="status">
        {said}
      </span>
    </button>
  );
}
