/** `/notifications`: this browser, and other addresses at which the person is notified. */
import { Suspense, useState } from 'react';
import { Link } from 'wouter';
import type { Delivery, PushConfig, Subscription } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { language } from '../languages/language.ts';
import { AnswersChoice } from '../push/answers-choice.tsx';
import { readBrowserPush, turnOff, turnOn } from '../push/browser.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Copy } from '../ui/copy.tsx';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { pageChunk } from '../ui/page-chunk.tsx';
import { type Resource, useResource } from '../ui/resource.ts';
import { TimedFact } from '../ui/timed-fact.tsx';

interface NotificationData {
  config: PushConfig;
  all: readonly Subscription[];
}

/** Loaded with its texts, after the main part of this page. */
const notify = pageChunk('notify', () => import('./notify.ts'));
const AddressSettings = notify.page(({ AddressSettings: part }) => part);
const PersonSettings = notify.page(({ PersonSettings: part }) => part);

export function Notifications() {
  const { client } = useRooms();
  const found = useResource('', async (): Promise<NotificationData> => {
    const [config, { subscriptions }] = await Promise.all([
      client.call('readPushConfig'),
      client.call('listSubscriptions'),
    ]);
    return { config, all: subscriptions };
  });
  return (
    <Page
      title={words.settings.notifications}
      back={{ path: '/account', name: words.shell.settings }}
      lead={words.notifications.lead}
      aside={
        <Link href="/notifications/history" className="button">
          {words.notifications.history}
        </Link>
      }
    >
      <Loaded of={found} what={words.notifications.loading}>
        {({ config, all }) =>
          config.kinds.length === 0 ? (
            <p role="status">{words.notifications.noneHere}</p>
          ) : (
            <>
              <ThisBrowser config={config} all={all} onChange={found.reload} />
              <Suspense fallback={null}>
                <PersonSettings />
              </Suspense>
              <Addresses all={all} found={found} />
              <AddAddress onAdded={found.reload} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function ThisBrowser({ config, all, onChange }: NotificationData & { config: PushConfig; onChange: () => void }) {
  const { client, place } = useRooms();
  const publicKey = config.vapid?.publicKey;
  const ids = all.map(({ id }) => id);
  const state = useResource(ids.join(), () => readBrowserPush(place, ids, publicKey));
  const on = useRecentAction(async () => {
    // The texts take a recent sign-in; without asking for them the relay leaves them out.
    await turnOn(client, place, publicKey!, { detail: 'text' });
    onChange();
    state.reload();
  });
  const off = useAction(async (id: string) => {
    await turnOff(client, place, id);
    onChange();
    state.reload();
  });
  return (
    <section aria-labelledby="this-browser">
      <h2 id="this-browser">{words.notifications.thisBrowser}</h2>
      <Loaded of={state} what={words.notifications.asking}>
        {(now) => (
          <>
            {now.kind === 'impossible' && <p role="status">{words.notifications.impossible[now.why]}</p>}
            {now.kind === 'denied' && <p role="status">{words.notifications.denied}</p>}
            {now.kind === 'off' && (
              <>
                <p>{words.notifications.off}</p>
                <form onSubmit={submitting(on.run)} method="post" className="stacked">
                  {on.again && <PasswordAgain {...on} />}
                  <Problem refusal={on.refusal} />
                  <div className="actions start">
                    <button type="submit" className="primary" aria-disabled={on.busy}>
                      {on.busy ? words.notifications.turningOn : words.notifications.turnOn}
                    </button>
                  </div>
                </form>
                {on.again && <ProvidersAgain returnTo="/notifications" />}
              </>
            )}
            {now.kind === 'on' && (
              <>
                <p role="status">{words.notifications.on}</p>
                {all
                  .filter(({ id }) => id === now.id)
                  .map((one) => (
                    <AnswersChoice key={one.id} subscription={one} />
                  ))}
                <Problem refusal={off.refusal} />
                <button type="button" aria-disabled={off.busy} onClick={() => void off.run(now.id)}>
                  {off.busy ? words.notifications.turningOff : words.notifications.turnOff}
                </button>
              </>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Addresses({ all, found }: { all: readonly Subscription[]; found: Resource<NotificationData> }) {
  if (all.length === 0) return null;
  const put = (changed: Subscription) =>
    found.change((value) => ({ ...value, all: value.all.map((one) => (one.id === changed.id ? changed : one)) }));
  return (
    <section aria-labelledby="addresses">
      <h2 id="addresses">{words.notifications.addresses}</h2>
      <ul className="cards">
        {all.map((one) => (
          <Address key={one.id} subscription={one} onChange={put} onRemoved={found.reload} />
        ))}
      </ul>
    </section>
  );
}

const looks: Record<Subscription['state'], string> = { active: 'chip good', paused: 'chip', unverified: 'chip warn' };

const isUnderWay = ({ state }: Delivery) => state === 'pending' || state === 'sending';
const pollMs = 500;
const testMs = 60_000;

/** The outcome of a test, in a sentence. */
function sentenceOf({ state, reason }: Delivery): string {
  if (state === 'accepted') return words.notifications.tested;
  return words.notifications.notTested(words.here.reason(reason ?? ''));
}

function Address({
  subscription,
  onChange,
  onRemoved,
}: {
  subscription: Subscription;
  onChange: (changed: Subscription) => void;
  onRemoved: () => void;
}) {
  const { client } = useRooms();
  const { id, label, kind, address, state, reason, lastDelivery } = subscription;
  const params = { id };
  const [isOpen, setOpen] = useState(false);
  const [outcome, setOutcome] = useState<string>();
  const pause = useAction(async () => {
    setOutcome(undefined);
    const next = state === 'paused' ? 'active' : 'paused';
    onChange(await client.call('changeSubscription', { params, body: { state: next } }));
  });
  const test = useAction(async () => {
    setOutcome(undefined);
    const { deliveryId } = await client.call('testSubscription', { params });
    let delivery: Delivery;
    const deadline = Date.now() + testMs;
    do {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      delivery = await client.call('readDelivery', { params: { id: deliveryId } });
    } while (isUnderWay(delivery) && delivery.attempts < 2 && Date.now() < deadline);
    setOutcome(sentenceOf(delivery));
    onChange(await client.call('readSubscription', { params }));
  });
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">{label}</span>
        <span className={looks[state]}>{words.notifications.states[state]}</span>
      </span>
      <span className="card-facts">
        <span>{words.notifications.kinds[kind]}</span>
        <span>{address}</span>
        {lastDelivery?.acceptedAt !== undefined && (
          <TimedFact text={words.notifications.lastDelivered} at={lastDelivery.acceptedAt} />
        )}
      </span>
      {reason !== undefined && <span className="card-facts">{words.here.reason(reason)}</span>}
      {outcome !== undefined && <span role="status">{outcome}</span>}
      <Problem refusal={test.refusal ?? pause.refusal} />
      <div className="actions start">
        <button
          type="button"
          aria-label={words.notifications.testTo(label)}
          aria-disabled={test.busy}
          onClick={() => void test.run()}
        >
          {test.busy ? words.notifications.sending : words.notifications.test}
        </button>
        <button
          type="button"
          aria-label={state === 'paused' ? words.notifications.resumeOf(label) : words.notifications.pauseOf(label)}
          aria-disabled={pause.busy}
          onClick={() => void pause.run()}
        >
          {state === 'paused' ? words.notifications.resume : words.notifications.pause}
        </button>
        <ConfirmButton
          label={words.notifications.removeOf(label)}
          title={words.notifications.removeTitle(label)}
          action={words.notifications.remove}
          doing={words.notifications.removing}
          onYes={async () => {
            await client.call('removeSubscription', { params });
            onRemoved();
          }}
        >
          <p>{words.notifications.removeMore}</p>
        </ConfirmButton>
      </div>
      <details className="more" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary aria-label={words.notifications.moreOf(label)}>{words.notifications.more}</summary>
        {isOpen && (
          <Suspense fallback={null}>
            <AddressSettings subscription={subscription} onChange={onChange} />
          </Suspense>
        )}
      </details>
    </li>
  );
}

function AddAddress({ onAdded }: { onAdded: () => void }) {
  const { client } = useRooms();
  const [kind, setKind] = useState<'ntfy' | 'webhook'>('ntfy');
  const [label, setLabel] = useState('');
  const [topic, setTopic] = useState('');
  const [url, setUrl] = useState('');
  const [secret, setSecret] = useState<string>();
  const add = useAction(async () => {
    setSecret(undefined);
    const named = label.trim() === '' ? {} : { label: label.trim() };
    const address = url.trim() === '' ? {} : { url: url.trim() };
    const common = { language, ...named, ...address };
    const body = kind === 'ntfy' ? { kind, topic: topic.trim(), ...common } : { kind, ...common };
    const answer = await client.call('addSubscription', { body });
    setSecret(answer.secret);
    setTopic('');
    setUrl('');
    setLabel('');
    onAdded();
  });
  return (
    <section aria-labelledby="add-address">
      <h2 id="add-address">{words.notifications.add}</h2>
      <form onSubmit={submitting(add.run)} className="stacked" method="post">
        <fieldset className="choices">
          <legend className="sr">{words.notifications.kind}</legend>
          {(['ntfy', 'webhook'] as const).map((one) => (
            <label key={one}>
              <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
              {words.notifications[one]}
            </label>
          ))}
        </fieldset>
        {kind === 'ntfy' && (
          <Field
            label={words.notifications.topic}
            name="topic"
            required
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={64}
            pattern="[\-_A-Za-z0-9]{1,64}"
            title={words.notifications.topicSigns}
            hint={words.notifications.topicHint}
            value={topic}
            onValue={setTopic}
          />
        )}
        <Field
          label={kind === 'ntfy' ? words.notifications.server : words.notifications.address}
          name="url"
          type="url"
          required={kind === 'webhook'}
          placeholder={kind === 'ntfy' ? 'https://ntfy.sh' : 'https://example.com/hook'}
          maxLength={1000}
          value={url}
          onValue={setUrl}
        />
        <Field
          label={words.common.name}
          name="label"
          maxLength={200}
          placeholder={words.notifications.exampleName}
          value={label}
          onValue={setLabel}
        />
        <Problem refusal={add.refusal} />
        <button type="submit" aria-disabled={add.busy}>
          {add.busy ? words.notifications.adding : words.notifications.addIt}
        </button>
      </form>
      {secret !== undefined && (
        <div role="status">
          <p>{words.notifications.secretOnce}</p>
          <Copy text={secret} label={words.notifications.secret} />
        </div>
      )}
    </section>
  );
}
