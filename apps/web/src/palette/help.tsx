/** The list of keys, and the switch that turns the single ones off. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { X } from '../ui/icons.tsx';
import { words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { keyName, turnKeys, useKeysOn } from './hot-keys.ts';
import '../styles/palette.css';

const k = (...keys: readonly string[]) =>
  keys.map((key) => (
    <kbd key={key} className="k">
      {keyName(key)}
    </kbd>
  ));

/** Read while it renders. */
function lists(): readonly { name: string; keys: readonly (readonly [text: string, keys: ReactNode])[] }[] {
  const { does } = words.keys;
  const then = <span className="faint"> {does.then} </span>;
  const or = <span className="faint"> {does.or} </span>;
  return [
    {
      name: words.keys.everywhere,
      keys: [
        [does.palette, k('Mod', 'K')],
        [words.list.newSession, k('N')],
        [words.shell.machines, <>{k('G')}{then}{k('M')}</>], // prettier-ignore
        [words.shell.sessions, <>{k('G')}{then}{k('S')}</>], // prettier-ignore
        [does.help, k('?')],
      ],
    },
    {
      name: words.keys.inList,
      keys: [
        [words.list.search, k('/')],
        [does.move, k('J', 'K')],
        [does.open, k('Enter')],
        [does.archive, k('E')],
        [does.select, <>{k('Shift')} + {k('Enter')}</>], // prettier-ignore
      ],
    },
    {
      name: words.keys.inSession,
      keys: [
        [does.send, <>{k('Enter')}{or}{k('Mod', 'Enter')}</>], // prettier-ignore
        [does.line, k('Shift', 'Enter')],
        [does.commands, k('/')],
        [does.answer, k('Enter', 'Esc')],
        [does.changes, <>{k('G')}{then}{k('C')}</>], // prettier-ignore
      ],
    },
  ];
}

export function Help({ onDone }: { onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isOn = useKeysOn();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="keys" aria-labelledby={id} onClose={onDone}>
      <div className="keys-head">
        <h2 id={id}>{words.keys.help}</h2>
        <IconButton icon={X} label={words.keys.close} onClick={() => dialog.current?.close()} />
      </div>
      <div className="keys-lists">
        {lists().map(({ name, keys }) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([text, names]) => (
                <div key={text}>
                  <dt>{text}</dt>
                  <dd>{names}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className="pick-line">
        <input type="checkbox" checked={isOn} onChange={({ target }) => turnKeys(target.checked)} />
        <span>
          {words.keys.useKeys}
          <span className="d soft">{words.keys.helpMore}</span>
        </span>
      </label>
    </dialog>
  );
}
