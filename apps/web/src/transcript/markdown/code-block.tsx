/** Code with its language, a switch that wraps lines, and a copy button. Coloured when it is complete and the page is idle. */
import { memo, useState } from 'react';
import { WrapText } from '../icons.tsx';
import { words } from '../../catalogue.ts';
import { DiffView } from '../parts/diff-view.tsx';
import { diffsOf } from '../parts/patch.ts';
import { CopyButton } from './copy-button.tsx';
import { languageOf } from './languages.ts';
import { Coloured } from './coloured.tsx';

export const CodeBlock = memo(function CodeBlock({
  text,
  language,
  open = false,
}: {
  text: string;
  language: string;
  open?: boolean;
}) {
  const [wrap, setWrap] = useState(false);
  const { name, key } = languageOf(language);
  const diffs = !open && (key === 'diff' || key === 'patch') ? diffsOf(text) : [];
  return (
    <figure className={wrap ? 'fence wrap' : 'fence'} dir="ltr">
      <figcaption className="h">
        <span className="grow">{name === '' ? words.code.plain : name}</span>
        <button
          type="button"
          className="xs"
          aria-label={words.code.wrap}
          title={words.code.wrap}
          aria-pressed={wrap}
          onClick={() => setWrap(!wrap)}
        >
          <WrapText className="i" aria-hidden />
        </button>
        <CopyButton text={text} />
      </figcaption>
      {diffs.length > 0 ? (
        diffs.map((diff, index) => <DiffView key={index} diff={diff} />)
      ) : (
        <pre tabIndex={0} role="region" aria-label={words.code.region(name)}>
          <code>
            <Coloured text={text} language={key} wanted={!open} />
          </code>
        </pre>
      )}
    </figure>
  );
});
