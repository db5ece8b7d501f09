/** Everything that can be chosen at an agent, in one sheet: a choice counts at once, and the sheet stays open. */
import { type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import type { Setting } from '@relay/protocol';
import { momentOf, words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { X } from '../ui/icons.tsx';
import { loadedLater } from '../ui/loaded-later.tsx';
import '../styles/sheet.css';
import { effortOf, modeOf, modelOf } from './settings.ts';

const ConfirmDanger = loadedLater(async () => (await import('./confirm-danger.tsx')).ConfirmDanger);

/** Resolves with the reason why it was refused; rejects when the person must sign in again. */
export type Choose = (setting: Setting, value: string, keep: boolean) => Promise<string | undefined>;

interface SheetProps {
  title: string;
  agent: string;
  machine: string;
  settings: readonly Setting[];
  /** The machine is away: the time of these values, or empty. */
  asOf: string | undefined;
  /** Choices are defaults by themselves. */
  isNew?: boolean;
  /** The rule of the schedule whose settings these are, as a person reads it. */
  rule?: string;
  onChoose: Choose;
  onClose: () => void;
}

const searchFrom = 12;

export function SettingsSheet(props: SheetProps) {
  const { title, agent, machine, settings, asOf, isNew = false, rule, onChoose, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [keep, setKeep] = useState(false);
  const [wanted, setWanted] = useState<{ id: string; value: string }>();
  const [refused, setRefused] = useState<{ id: string; reason: string }>();
  const [danger, setDanger] = useState<{ setting: Setting; value: string }>();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const set = async (setting: Setting, value: string, kept: boolean) => {
    setRefused(undefined);
    setWanted({ id: setting.id, value });
    try {
      const reason = await onChoose(setting, value, kept);
      if (reason !== undefined) setRefused({ id: setting.id, reason });
    } finally {
      setWanted(undefined);
    }
  };
  const choose = (setting: Setting) => (value: string) => {
    if (value === setting.value) return;
    const isDanger = setting.options.find((option) => option.id === value)?.danger === true;
    if (isDanger) setDanger({ setting, value });
    else void set(setting, value, keep || isNew).catch(() => undefined);
  };
  const keepNow = (on: boolean) => {
    setKeep(on);
    if (!on) return;
    for (const setting of settings)
      if (setting.options.find((option) => option.id === setting.value)?.danger !== true)
        void set(setting, setting.value, true).catch(() => undefined);
  };
  const valueOf = (setting: Setting) => (wanted?.id === setting.id ? wanted.value : setting.value);
  const group = (setting: Setting | undefined, heading: string, control: (setting: Setting) => ReactNode) => {
    if (!setting) return undefined;
    const { now, next } = words.controls.applies;
    const when = setting.applies === 'now' ? now : setting.applies === 'next' ? next : '';
    return (
      <fieldset className="grp" key={setting.id}>
        <legend>
          {heading} {when !== '' && <span className="faint">{when}</span>}
        </legend>
        {control(setting)}
        {refused?.id === setting.id && (
          <p className="bad" role="alert">
            {words.controls.refused(machine, refused.reason)}
          </p>
        )}
      </fieldset>
    );
  };
  const select = (setting: Setting) => (
    <Select setting={setting} value={valueOf(setting)} label={setting.name} onChoose={choose(setting)} />
  );
  const [mode, model, effort] = [modeOf(settings), modelOf(settings), effortOf(settings)];
  const others = settings.filter((one) => one !== mode && one !== model && one !== effort && one.category !== 'cap');
  const { heading } = words.controls;
  // Outside of the form around it: a form within a form is sent by the browser.
  return createPortal(
    <dialog className="sheet above" ref={dialog} aria-labelledby={id} onClose={onClose}>
      <div className="mh">
        <h2 id={id}>{title}</h2>
        <IconButton icon={X} label={words.controls.close} onClick={() => dialog.current?.close()} />
      </div>
      <div className="mb">
        {asOf !== undefined && (
          <p className="hint">
            {(isNew ? words.controls.asOfStart : words.controls.asOf)(asOf === '' ? '–' : momentOf(asOf))}
          </p>
        )}
        {group(mode, heading.mode, (setting) => (
          <Radios setting={setting} value={valueOf(setting)} name={`${id}-mode`} onChoose={choose(setting)} />
        ))}
        {(model || effort) && (
          <div className="pair">
            {group(model, heading.model, (setting) =>
              setting.options.length < searchFrom ? (
                select(setting)
              ) : (
                <Searched setting={setting} value={valueOf(setting)} name={`${id}-model`} onChoose={choose(setting)} />
              ),
            )}
            {group(effort, heading.thought_level, (setting) => (
              <Segments setting={setting} value={valueOf(setting)} onChoose={choose(setting)} />
            ))}
          </div>
        )}
        {others.length > 0 && (
          <details>
            <summary>{words.controls.more}</summary>
            {others.map((setting) => group(setting, setting.name, select))}
          </details>
        )}
      </div>
      {!isNew && asOf === undefined && (
        <label className="mf keep">
          <span className="grow">
            {words.controls.keep}
            <span className="d">{words.controls.keepMore(agent, machine)}</span>
          </span>
          <input
            type="checkbox"
            role="switch"
            className="sw"
            checked={keep}
            onChange={({ target }) => keepNow(target.checked)}
          />
        </label>
      )}
      {danger && (
        <Suspense>
          <ConfirmDanger
            mode={danger.setting.options.find(({ id }) => id === danger.value)?.name ?? danger.value}
            agent={agent}
            machine={machine}
            canKeep={asOf === undefined && rule === undefined}
            rule={rule}
            onYes={(kept) => set(danger.setting, danger.value, kept)}
            onClose={() => setDanger(undefined)}
          />
        </Suspense>
      )}
    </dialog>,
    document.body,
  );
}

interface ControlProps {
  setting: Setting;
  value: string;
  onChoose: (value: string) => void;
}

function Radios({ setting, value, name, onChoose }: ControlProps & { name: string }) {
  return setting.options.map((option) => (
    <label key={option.id} className={option.danger ? 'opt danger' : 'opt'}>
      <input type="radio" name={name} checked={option.id === value} onChange={() => onChoose(option.id)} />
      <span>
        <b>
          {option.name} {option.danger && <span className="chip bad">{words.controls.doesNotAsk}</span>}
        </b>
        {option.description && <span>{option.description}</span>}
      </span>
    </label>
  ));
}

function Segments({ setting, value, onChoose }: ControlProps) {
  return (
    <div className="seg">
      {setting.options.map(({ id, name }) => (
        <button key={id} type="button" aria-pressed={id === value} onClick={() => onChoose(id)}>
          {name}
        </button>
      ))}
    </div>
  );
}

function Select({ setting, value, label, onChoose }: ControlProps & { label: string }) {
  const groups = [...new Set(setting.options.map(({ group }) => group ?? ''))];
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChoose(target.value)}>
      {groups.map((group) => {
        const options = setting.options.filter((option) => (option.group ?? '') === group);
        const shown = options.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ));
        return group === '' ? (
          shown
        ) : (
          <optgroup key={group} label={group}>
            {shown}
          </optgroup>
        );
      })}
    </select>
  );
}

function Searched({ setting, value, name, onChoose }: ControlProps & { name: string }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const options = setting.options.filter(
    (option) => wanted === '' || `${option.group ?? ''} ${option.name} ${option.id}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <input
        type="search"
        aria-label={words.controls.search}
        placeholder={words.controls.search}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className="found">
        {options.slice(0, 200).map((option, at) => (
          <div key={option.id}>
            {option.group && option.group !== options[at - 1]?.group && <p className="hint">{option.group}</p>}
            <label className="opt">
              <input type="radio" name={name} checked={option.id === value} onChange={() => onChoose(option.id)} />
              <span>
                <b>{option.name}</b>
              </span>
            </label>
          </div>
        ))}
      </div>
    </>
  );
}
