/** A button that shows a sign alone. */
import type { ButtonHTMLAttributes } from 'react';
import type { IconComponent } from './icon.tsx';

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconComponent;
  /** Its name, for readers. */
  label: string;
}

export const IconButton = ({ icon: Icon, label, className = '', ...button }: IconButtonProps) => (
  <button type="button" className={`ghost icon ${className}`.trim()} aria-label={label} {...button}>
    <Icon className="i" aria-hidden />
  </button>
);
