/** The sheet of use: context, cost, limits of the plan, and the ways to more. */
import { useEffect, useId, useRef } from 'react';
import { createPortal } from 'react-dom';
import type { UsageLimit } from '@relay/protocol';
import { Link } from 'wouter';
import { momentOf, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { nameOfAgent } from '../ui/agents.ts';
import { useNamedDevices } from '../ui/device-list.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { ChevronRight, X } from '../ui/icons.tsx';
import { useResource } from '../ui/resource.ts';
import { Caps } from './caps.tsx';
import { type Figures, calendarDay, capsIn, money, percentOf, sums, whenOf, withAnswer, zoneHere } from './figures.ts';
import { Gauge } from './gauge.tsx';
import type { UsageProps } from './props.ts';

interface SheetProps extends UsageProps {
  figures: Figures;
  onClose: () => void;
}

export function UsageSheet({ session, device, figures: stored, send, onClose }: SheetProps) {
  const { client } = useRooms();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const params = { id: session.id };
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const isHere = device?.status === 'online';
  const context = useResource('', async () =>
    isHere && device.capabilities.includes('usage') ? client.call('readContext', { params }) : undefined,
  );
  const commands = useResource('', async () => (await client.call('listCommands', { params })).commands);
  const answer = context.kind === 'ready' ? context.value : undefined;
  const caps = answer && capsIn(answer);
  const figures = answer ? withAnswer(stored, answer) : stored;
  const canCompact = commands.kind === 'ready' && commands.value.some(({ name }) => name === 'compact');
  const agent = nameOfAgent(session.agentType, device);
  const machine = device?.name ?? words.list.machine;
  // Rendered outside the composer, so the composer's form and button styles do not apply.
  return createPortal(
    <dialog
      ref={dialog}
      className="sheet usage"
      aria-labelledby={id}
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && onClose()}
    >
      <div className="mh">
        <h2 id={id}>{words.usage.title}</h2>
        <IconButton icon={X} label={words.usage.close} onClick={() => dialog.current?.close()} />
      </div>
      <div className="mb">
        {!isHere && <p className="fine">{words.asOf(momentOf(figures.at))}</p>}
        <Context
          figures={figures}
          onCompact={
            canCompact && send && isHere
              ? () => {
                  dialog.current?.close();
                  void send.run(undefined, '/compact', []);
                }
              : undefined
          }
        />
        <Costs figures={figures} agent={agent} />
        <section className="grp" aria-label={words.usage.limits}>
          <h3>{words.usage.limits}</h3>
          <Limits limits={figures.limits} agent={agent} machine={machine} />
        </section>
        {caps && (
          <Caps
            sessionId={session.id}
            caps={caps}
            where={words.usage.where(agent, machine)}
            onOutdated={context.reload}
          />
        )}
        <ul className="set-list">
          <li>
            <Link href="/usage" className="li">
              <b className="grow">{words.usage.byDay}</b>
              <ChevronRight className="i" aria-hidden />
            </Link>
          </li>
        </ul>
      </div>
    </dialog>,
    document.body,
  );
}

function Context({ figures, onCompact }: { figures: Figures; onCompact: (() => void) | undefined }) {
  const { used, size } = figures;
  const percent = percentOf(figures);
  if (used === undefined) return null;
  return (
    <section className="ctx">
      {percent !== undefined && <Gauge percent={percent} large />}
      <div className="grow">
        {percent !== undefined && (
          <p>
            <b className="num">{words.usage.share(percent)}</b>
          </p>
        )}
        <p className="soft num">{words.usage.tokens(used, size)}</p>
      </div>
      {onCompact && (
        <button type="button" className="small" onClick={onCompact}>
          {words.usage.compact}
        </button>
      )}
    </section>
  );
}

function Costs({ figures: { cost }, agent }: { figures: Figures; agent: string }) {
  const { client } = useRooms();
  const devices = useNamedDevices().filter(({ capabilities }) => capabilities.includes('spending'));
  const today = calendarDay(0);
  const query = { from: today, to: today, zone: zoneHere() };
  const spent = useResource(devices.map(({ id, status }) => `${id} ${status}`).join(), async () => {
    const here = devices.filter(({ status }) => status === 'online');
    const read = here.map(({ id }) => client.call('readUsage', { params: { id }, query }).catch(() => undefined));
    return sums((await Promise.all(read)).flatMap((answer) => answer?.days.map((day) => day.cost) ?? []));
  });
  const all = spent.kind === 'ready' ? spent.value : [];
  if (!cost && all.length === 0) return <p className="fine">{words.usage.noCost(agent)}</p>;
  return (
    <>
      <section className="two-up">
        <div>
          <p className="soft">{words.usage.session}</p>
          <p className="fig num">{cost ? money(cost) : '–'}</p>
        </div>
        {devices.length > 0 && (
          <div>
            <p className="soft">{words.usage.today}</p>
            <p className="fig num">{all.map(money).join(' + ') || '–'}</p>
          </div>
        )}
      </section>
      <p className="fine">{cost ? words.usage.estimated(agent) : words.usage.noCost(agent)}</p>
    </>
  );
}

/** A limit that has restarted since is outdated. */
const counts = ({ resets }: UsageLimit) => resets === undefined || Date.parse(resets) > Date.now();

function Limits({ limits, agent, machine }: { limits: readonly UsageLimit[]; agent: string; machine: string }) {
  const shown = limits.filter(counts);
  const [newest] = shown.map(({ as_of: at }) => at).sort().reverse(); // prettier-ignore
  if (newest === undefined) return <p className="fine">{words.usage.noLimits(agent)}</p>;
  return (
    <>
      {shown.map(({ id, name, used, resets, state }) => {
        const percent = used === undefined ? undefined : Math.round(used * 100);
        const label = words.usage.limit(id, name);
        const facts = words.usage.limitFacts(percent, resets === undefined ? undefined : whenOf(resets));
        const isNear = (percent ?? 0) >= 70 || state === 'warning' || state === 'rejected';
        return (
          <div className="lim" key={id}>
            <div className="fl">
              <b>{label}</b>
              <span className="soft num">{facts}</span>
            </div>
            {percent !== undefined && (
              <div
                className={`meter full${isNear ? ' near' : ''}`}
                role="meter"
                aria-label={label}
                aria-valuemin={0}
                aria-valuemax={100}
                aria-valuenow={percent}
                aria-valuetext={facts}
              >
                <i style={{ width: `${percent}%` }} />
              </div>
            )}
          </div>
        );
      })}
      <p className="fine">{words.usage.from(agent, machine, momentOf(newest))}</p>
    </>
  );
}
