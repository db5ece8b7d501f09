/** The frame of every icon: a drawing of 24 by 24, hidden from screen readers unless it has a label. */
import type { ReactNode, SVGProps } from 'react';

export type IconComponent = (props: SVGProps<SVGSVGElement>) => ReactNode;

/** `name` becomes a class. `drawing` is the inside of the `<svg>`. */
export const icon =
  (name: string, drawing: ReactNode): IconComponent =>
  ({ className = '', ...props }) => (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width="24"
      height="24"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`lucide lucide-${name} ${className}`.trim()}
      aria-hidden={props['aria-label'] ? undefined : true}
      {...props}
    >
      {drawing}
    </svg>
  );
