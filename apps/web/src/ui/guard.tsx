/** A part that cannot be drawn takes nothing with it but itself. */
import { Component, type ReactNode } from 'react';

interface GuardProps {
  instead: ReactNode;
  /** A changed value tries the children again. */
  of?: string;
  children: ReactNode;
}

export class Guard extends Component<GuardProps, { failed: boolean; of: string | undefined }> {
  override state = { failed: false, of: this.props.of };
  static getDerivedStateFromError = () => ({ failed: true });
  static getDerivedStateFromProps = ({ of }: GuardProps, state: { of: string | undefined }) =>
    of === state.of ? null : { failed: false, of };
  override render() {
    return this.state.failed ? this.props.instead : this.props.children;
  }
}
