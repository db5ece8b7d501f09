/**
 * The second line of the composer, between the plus sign and the buttons, for daemons with `controls`. Places in order: permissions and
 * model (`.sets`), the context ring (`.use`), and the buttons for a message during a turn (`.alt`). A chunk of its own.
 */
import type { RefObject } from 'react';
import type { Device, Session } from '@relay/protocol';
import '../styles/composer-controls.css';

export interface ControlsProps {
  session: Session;
  device: Device;
  /** The text in the field. */
  text: string;
  field: RefObject<HTMLTextAreaElement | null>;
}

export default function ComposerControls(_: ControlsProps) {
  return (
    <div className="tray">
      <div className="sets" />
    </div>
  );
}
