/** The fields of the rule of a schedule. */
import { words } from '../catalogue.ts';
import { type Every, type Form, every, hourSteps } from './rule.ts';

/** A Sunday, for the names of the days. */
const sundayMs = Date.UTC(2026, 10, 29);

/** The fields of a rule; which ones depends on the first. */
export function RuleFields({ form, onChange: change }: { form: Form; onChange: (changed: Partial<Form>) => void }) {
  const text = words.later;
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { weekday: 'long', timeZone: 'UTC' });
  return (
    <div className="pair">
      <label>
        {text.day}
        <select value={form.every} onChange={({ target }) => change({ every: target.value as Every })}>
          {every.map((one) => (
            <option key={one} value={one}>
              {text.every[one]}
            </option>
          ))}
        </select>
      </label>
      {form.every === 'week' && (
        <label>
          {text.weekday}
          <select value={form.weekday} onChange={({ target }) => change({ weekday: Number(target.value) })}>
            {[1, 2, 3, 4, 5, 6, 0].map((one) => (
              <option key={one} value={one}>
                {day.format(sundayMs + one * 86_400_000)}
              </option>
            ))}
          </select>
        </label>
      )}
      {form.every === 'month' && (
        <label>
          {text.date}
          <input
            type="number"
            min={1}
            max={31}
            required
            value={form.day}
            onChange={({ target }) => change({ day: Number(target.value) })}
          />
        </label>
      )}
      {form.every === 'hours' && (
        <label>
          {text.hours}
          <select value={form.hours} onChange={({ target }) => change({ hours: Number(target.value) })}>
            {hourSteps.map((one) => (
              <option key={one} value={one}>
                {text.everyHours(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      {form.every === 'rule' ? (
        <label>
          {text.rule}
          <input type="text" required value={form.cron} onChange={({ target }) => change({ cron: target.value })} />
        </label>
      ) : (
        <label>
          {text.time}
          <input type="time" required value={form.time} onChange={({ target }) => change({ time: target.value })} />
        </label>
      )}
    </div>
  );
}
