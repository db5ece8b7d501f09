/** `/usage`: turns, cost and tokens of all machines in the last 30 days, as their daemons keep them. */
import type { Cost, Device, UsageDay } from '@relay/protocol';
import { number, words } from '../catalogue.ts';
import { locale } from '../languages/language.ts';
import { useRooms } from '../rooms.ts';
import { agentName, agentsOf } from '../ui/agents.ts';
import { distinct, useDevices } from '../ui/device-list.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { calendarDay, money, sums, zoneHere } from './figures.ts';
import '../styles/usage.css';

const shownDays = 30;

/** A machine, with its figures where it answered. */
interface Read {
  device: Device;
  days: readonly UsageDay[] | undefined;
}

export function Usage() {
  const devices = useDevices();
  return (
    <Page title={words.usage.title} back={{ path: '/account', name: words.shell.settings }} lead={words.usage.lead}>
      <Loaded of={devices} what={words.usage.loading}>
        {(all) => (
          <OfMachines devices={distinct(all).filter(({ capabilities }) => capabilities.includes('spending'))} />
        )}
      </Loaded>
    </Page>
  );
}

function OfMachines({ devices }: { devices: readonly Device[] }) {
  const { client } = useRooms();
  const query = { from: calendarDay(shownDays - 1), to: calendarDay(0), zone: zoneHere() };
  const found = useResource(devices.map(({ id, status }) => `${id} ${status}`).join(), () =>
    Promise.all(
      devices.map(async (device): Promise<Read> => {
        if (device.status !== 'online') return { device, days: undefined };
        const answer = await client.call('readUsage', { params: { id: device.id }, query }).catch(() => undefined);
        return { device, days: answer?.days };
      }),
    ),
  );
  return (
    <Loaded of={found} what={words.usage.loading}>
      {(read) => {
        const days = read.flatMap((one) => one.days ?? []);
        return (
          <>
            {days.length === 0 ? <p role="status">{words.usage.none}</p> : <Bars days={days} />}
            {days.length > 0 && <Table read={read} />}
            {read.map(({ device: { id, name, status }, days: has }) =>
              has ? null : (
                <p className="fine" role="status" key={id}>
                  {status === 'online' ? words.usage.unread(name) : words.usage.missing(name)}
                </p>
              ),
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** One bar per day: its cost in the currency of most of it, or its turns where no agent reports cost. */
function Bars({ days }: { days: readonly UsageDay[] }) {
  const [main] = sums(days.map(({ cost }) => cost)).sort((one, other) => other.amount - one.amount);
  const names = Array.from({ length: shownDays }, (_, index) => calendarDay(shownDays - 1 - index));
  const format = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' });
  const bars = names.map((name) => {
    const those = days.filter(({ day }) => day === name);
    const costs = sums(those.map(({ cost }) => cost));
    const turns = those.reduce((sum, one) => sum + one.turns, 0);
    const amount = costs.find(({ currency }) => currency === main?.currency)?.amount ?? 0;
    const facts = [...costs.map(money), words.usage.turnsOf(turns)].join(', ');
    return { name, value: main ? amount : turns, text: `${format.format(new Date(name))}: ${facts}` };
  });
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <section aria-labelledby="by-day">
      <h2 id="by-day">{words.usage.bars(main !== undefined)}</h2>
      <ol className="bars">
        {bars.map(({ name, value, text }) => (
          <li key={name} title={text}>
            <i style={{ height: `${(value / most) * 100}%` }} aria-hidden />
            <span className="sr">{text}</span>
          </li>
        ))}
      </ol>
      <p className="ends-of num" aria-hidden>
        <span>{format.format(new Date(names[0]!))}</span>
        <span>{format.format(new Date(names.at(-1)!))}</span>
      </p>
    </section>
  );
}

function Table({ read }: { read: readonly Read[] }) {
  const { columns } = words.usage;
  const rows = read.flatMap(({ device, days = [] }) =>
    [...new Set(days.map(({ agentType }) => agentType))].map((type) => {
      const own = days.filter(({ agentType }) => agentType === type);
      const name = agentName(type) || (agentsOf(device).find(({ agentType }) => agentType === type)?.name ?? '');
      return { device, type, name, ...sumOf(own) };
    }),
  );
  return (
    <table className="figures">
      <thead>
        <tr>
          <th scope="col">{columns.agent}</th>
          <th scope="col">{columns.turns}</th>
          <th scope="col">{columns.cost}</th>
          <th scope="col">{columns.tokens}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ device, type, name, turns, costs, tokens }) => (
          <tr key={`${device.id} ${type}`}>
            <th scope="row">
              <b>{words.usage.agent(name)}</b>
              <span className="d">{device.name}</span>
            </th>
            <td className="num">{number(turns)}</td>
            <td className="num">{costs.map(money).join(' + ') || '–'}</td>
            <td className="num">{tokens === undefined ? '–' : number(tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sumOf(days: readonly UsageDay[]): { turns: number; costs: Cost[]; tokens: number | undefined } {
  const counted = days.flatMap(({ tokens }) => tokens ?? []);
  return {
    turns: days.reduce((sum, { turns }) => sum + turns, 0),
    costs: sums(days.map(({ cost }) => cost)),
    tokens: counted.length === 0 ? undefined : counted.reduce((sum, one) => sum + one, 0),
  };
}
