/** The parts of the chunk, by name: one component, so that the pages that use them stay small. */
import { type AskProps, DeskAsk } from './ask.tsx';
import { type BarProps, DeskBar } from './bar.tsx';
import { Resume, type ResumeProps } from './resume.tsx';
import { DeskRow, type RowProps } from './row.tsx';

type DeskProps =
  | ({ part: 'row' } & RowProps)
  | ({ part: 'composer'; isAsking: boolean } & BarProps & AskProps)
  | ({ part: 'resume' } & ResumeProps);

export function Desk(props: DeskProps) {
  switch (props.part) {
    case 'row':
      return <DeskRow {...props} />;
    case 'composer':
      return (
        <>
          <DeskBar {...props} />
          {props.isAsking && <DeskAsk {...props} />}
        </>
      );
    case 'resume':
      return <Resume {...props} />;
  }
}
