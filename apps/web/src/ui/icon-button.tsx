/** A button that shows a sign alone. */
import type { ButtonHTMLAttributes } from 'react';
import type { LucideIcon } from 'lucide-react';

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: LucideIcon;
  /** Its name, for readers. */
  label: string;
}

export const IconButton = ({ icon: Icon, label, className = '', ...button }: IconButtonProps) => (
  <button type="button" className={`ghost icon ${className}`.trim()} aria-label={label} {...button}>
    <Icon className="i" aria-hidden />
  </button>
);
