/** The causes that notify a person, and the hours: for all addresses, and for one. A chunk of its own, with its texts. */
import { useId, useState } from 'react';
import type {
  CauseLevels,
  ChosenCause,
  NotificationSettings,
  NotifyLevel,
  QuietHours,
  Subscription,
  Weekday,
} from '@relay/protocol';
import { locale } from '../languages/language.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { useResource } from '../ui/resource.ts';
import { Submit } from '../ui/submit.tsx';

const chosenCauses: readonly ChosenCause[] = ['needs_you', 'failed', 'unknown', 'done', 'device'];
const notifyLevels: readonly NotifyLevel[] = ['off', 'watched', 'all'];
const weekdays: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** A machine cannot be watched: its notifications are on or off. */
const levelsOf = (cause: ChosenCause): readonly NotifyLevel[] => (cause === 'device' ? ['off', 'all'] : notifyLevels);
const levelText = (cause: ChosenCause, level: NotifyLevel) =>
  cause === 'device' && level !== 'off' ? words.notices.on : words.notices.levels[level];
const shownLevel = (cause: ChosenCause, level: NotifyLevel) =>
  cause === 'device' && level === 'watched' ? 'all' : level;

function Levels({
  levels,
  unset,
  onLevels,
}: {
  levels: CauseLevels;
  /** The text of a cause without a level; undefined: each has one. */
  unset?: string;
  onLevels: (levels: CauseLevels) => void;
}) {
  const id = useId();
  const choose = (cause: ChosenCause, typed: string) => {
    const level = notifyLevels.find((one) => one === typed);
    const { [cause]: _before, ...others } = levels;
    onLevels(level === undefined ? others : { ...others, [cause]: level });
  };
  return (
    <div className="levels">
      {chosenCauses.map((cause) => {
        const level = levels[cause];
        return (
          <div key={cause}>
            <label htmlFor={`${id}-${cause}`}>{words.notices.causes[cause]}</label>
            <select
              id={`${id}-${cause}`}
              value={level === undefined ? '' : shownLevel(cause, level)}
              onChange={({ target }) => choose(cause, target.value)}
            >
              {unset !== undefined && <option value="">{unset}</option>}
              {levelsOf(cause).map((one) => (
                <option key={one} value={one}>
                  {levelText(cause, one)}
                </option>
              ))}
            </select>
          </div>
        );
      })}
    </div>
  );
}

export function PersonSettings() {
  const { client } = useRooms();
  const found = useResource('', () => client.call('readNotificationSettings'));
  return (
    <Loaded of={found} what={words.notices.loading}>
      {(settings) => <Choose settings={settings} onSaved={(saved) => found.change(() => saved)} />}
    </Loaded>
  );
}

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
const night = (): QuietHours => ({ start: '22:00', end: '07:00', timeZone: ownZone() });

function Choose({
  settings,
  onSaved,
}: {
  settings: NotificationSettings;
  onSaved: (saved: NotificationSettings) => void;
}) {
  const { client } = useRooms();
  const [causes, setCauses] = useState<CauseLevels>(settings.causes);
  const [quiet, setQuiet] = useState(settings.quietHours ?? night());
  const [isQuiet, setIsQuiet] = useState(settings.quietHours !== null);
  const [isSaved, setSaved] = useState(false);
  const save = useAction(async () => {
    const body = { causes, quietHours: isQuiet ? quiet : null };
    onSaved(await client.call('saveNotificationSettings', { body }));
    setSaved(true);
  });
  const { held } = settings;
  return (
    <form onSubmit={submitting(save.run)} className="stacked" method="post" onChange={() => setSaved(false)}>
      <section aria-labelledby="causes">
        <h2 id="causes">{words.notices.choose}</h2>
        <Levels levels={causes} onLevels={setCauses} />
        <p className="hint">{words.notices.access}</p>
      </section>
      <section aria-labelledby="quiet">
        <h2 id="quiet">{words.notices.quiet}</h2>
        <label className="pick-line">
          <input type="checkbox" checked={isQuiet} onChange={({ target }) => setIsQuiet(target.checked)} />
          {words.notices.quietOn}
        </label>
        {isQuiet && <Quiet quiet={quiet} onQuiet={setQuiet} />}
        {held.count > 0 && <p role="status">{words.notices.held(held.count, held.until)}</p>}
      </section>
      <Problem refusal={save.refusal} />
      <div className="actions start">
        <Submit busy={save.busy} busyText={words.saving}>
          {words.save}
        </Submit>
        {isSaved && <span role="status">{words.common.saved}</span>}
      </div>
    </form>
  );
}

/** 5 January 2026 is a Monday. */
const dayName = (index: number) =>
  new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2026, 0, 5 + index));

function Quiet({ quiet, onQuiet }: { quiet: QuietHours; onQuiet: (quiet: QuietHours) => void }) {
  const zones = useId();
  const days = quiet.days ?? weekdays;
  const passes = quiet.passes ?? ['needs_you'];
  const toggled = <T,>(all: readonly T[], chosen: readonly T[], one: T) =>
    all.filter((each) => (each === one ? !chosen.includes(one) : chosen.includes(each)));
  return (
    <>
      <div className="hours">
        <Field
          label={words.notices.from}
          type="time"
          required
          value={quiet.start}
          onValue={(start) => onQuiet({ ...quiet, start })}
        />
        <Field
          label={words.notices.to}
          type="time"
          required
          value={quiet.end}
          onValue={(end) => onQuiet({ ...quiet, end })}
        />
        <Field
          label={words.notices.zone}
          required
          maxLength={64}
          list={zones}
          autoComplete="off"
          value={quiet.timeZone}
          onValue={(timeZone) => onQuiet({ ...quiet, timeZone })}
        />
        <datalist id={zones}>
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      <fieldset className="picks">
        <legend>{words.notices.days}</legend>
        {weekdays.map((day, index) => (
          <label key={day} className="pick-line">
            <input
              type="checkbox"
              checked={days.includes(day)}
              onChange={() => onQuiet({ ...quiet, days: toggled(weekdays, days, day) })}
            />
            {dayName(index)}
          </label>
        ))}
      </fieldset>
      <fieldset className="picks">
        <legend>{words.notices.passes}</legend>
        {chosenCauses.map((cause) => (
          <label key={cause} className="pick-line">
            <input
              type="checkbox"
              checked={passes.includes(cause)}
              onChange={() => onQuiet({ ...quiet, passes: toggled(chosenCauses, passes, cause) })}
            />
            {words.notices.causes[cause]}
          </label>
        ))}
      </fieldset>
    </>
  );
}

const delays = [0, 60, 300, 900, 3600];

export function AddressSettings({
  subscription,
  onChange,
}: {
  subscription: Subscription;
  onChange: (changed: Subscription) => void;
}) {
  const { client } = useRooms();
  const { id, label } = subscription;
  const [causes, setCauses] = useState(subscription.causes);
  const [delaySeconds, setDelay] = useState(subscription.delaySeconds ?? 0);
  const [group, setGroup] = useState(subscription.group ?? '');
  const delayId = useId();
  const save = useAction(async () =>
    onChange(
      await client.call('changeSubscription', { params: { id }, body: { causes, delaySeconds, group: group.trim() } }),
    ),
  );
  return (
    <form
      onSubmit={submitting(save.run)}
      className="stacked"
      method="post"
      aria-label={words.notifications.moreOf(label)}
    >
      <Levels levels={causes} unset={words.notices.asAbove} onLevels={setCauses} />
      <div className="field">
        <label htmlFor={delayId}>{words.notices.delay}</label>
        <select id={delayId} value={delaySeconds} onChange={({ target }) => setDelay(Number(target.value))}>
          {[...new Set([...delays, delaySeconds])].map((seconds) => (
            <option key={seconds} value={seconds}>
              {words.notices.delays(seconds)}
            </option>
          ))}
        </select>
      </div>
      <Field
        label={words.notices.group}
        name="group"
        maxLength={64}
        autoComplete="off"
        hint={words.notices.groupHint}
        value={group}
        onValue={setGroup}
      />
      <Problem refusal={save.refusal} />
      <Submit busy={save.busy} busyText={words.saving}>
        {words.save}
      </Submit>
    </form>
  );
}
