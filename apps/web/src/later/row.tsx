/** A row of the page of later messages: an icon, the message, details below it, its time, and a menu of actions. */
import { type ComponentType, type ReactNode, type SVGProps, useId, useRef } from 'react';
import { words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { EllipsisVertical } from '../ui/icons.tsx';

export interface LaterAction {
  name: string;
  act: () => void;
  isDangerous?: boolean;
}

interface LaterRowProps {
  icon: ComponentType<SVGProps<SVGSVGElement>>;
  name: string;
  details: ReactNode;
  time: ReactNode;
  actions: readonly LaterAction[];
  isOff?: boolean;
  children?: ReactNode;
}

export function LaterRow({ icon: Icon, name, details, time, actions, isOff = false, children }: LaterRowProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <li className={isOff ? 'off' : ''}>
      <Icon className="i" aria-hidden />
      <span className="grow">
        <b>{name}</b>
        {details}
      </span>
      <span className="when num">{time}</span>
      <IconButton icon={EllipsisVertical} label={words.list.more(name.slice(0, 80))} popoverTarget={id} />
      <div className="menu" id={id} popover="auto" ref={menu}>
        {actions.map((action) => (
          <button
            key={action.name}
            type="button"
            className={action.isDangerous ? 'danger' : ''}
            onClick={() => {
              menu.current?.hidePopover();
              action.act();
            }}
          >
            {action.name}
          </button>
        ))}
      </div>
      {children}
    </li>
  );
}
