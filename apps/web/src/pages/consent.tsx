/** `/consent`: a program wants to act for a person, who allows or refuses it here. */
import { useState } from 'react';
import { Refusal } from '../api/refusal.ts';
import { isFollowable } from '../auth/return-to.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { submitting, useAction } from '../ui/action.ts';
import { useQuery } from '../ui/address.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { scopeWords } from '../ui/scopes.ts';
import { Sentence } from '../ui/sentence.tsx';

/** The machine or program that will get the answer. */
function destination(redirectUri: string): string {
  try {
    const { protocol, hostname, host } = new URL(redirectUri);
    if (protocol !== 'http:' && protocol !== 'https:') return words.consent.app(protocol);
    return hostname === '127.0.0.1' || hostname === '[::1]' ? words.consent.program(host) : host;
  } catch {
    return words.consent.unknown;
  }
}

export function Consent() {
  const { account } = useRooms();
  const query = useQuery();
  const clientId = query.get('client_id') ?? '';
  const [done, setDone] = useState(false);
  const who = useResource(clientId, async () => {
    const [client, me] = await Promise.all([account.client(clientId), account.me()]);
    return { name: client.client_name ?? clientId, email: me.email };
  });
  const request = window.location.search.slice(1);
  const decide = async (accept: boolean) => {
    const { url } = await account.consent(accept, request);
    if (url === undefined || !isFollowable(url)) throw new Refusal('SIGN_IN_FAILED', '');
    setDone(true);
    window.location.assign(url);
  };
  const allow = useRecentAction(() => decide(true));
  const deny = useAction(() => decide(false));
  const busy = allow.busy || deny.busy;
  if (done)
    return (
      <Page title={words.consent.done} narrow key="done">
        <Notice kind="good">{words.consent.goBack(who.kind === 'ready' ? who.value.name : undefined)}</Notice>
      </Page>
    );
  return (
    <Page title={words.consent.title} narrow>
      <Loaded of={who} what={words.consent.checking}>
        {({ name, email }) => (
          <>
            <p>
              <Sentence text={words.consent.wants} app={<strong>{name}</strong>} email={<strong>{email}</strong>} />
            </p>
            <ul>
              {scopeWords((query.get('scope') ?? '').split(' ')).map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
            <p className="hint">{words.consent.returns(destination(query.get('redirect_uri') ?? ''))}</p>
            <form onSubmit={submitting(() => !deny.busy && allow.run())} method="post">
              {allow.again && <PasswordAgain {...allow} />}
              <Problem refusal={allow.refusal ?? deny.refusal} />
              <div className="actions">
                <button type="button" aria-disabled={busy} onClick={() => !allow.busy && void deny.run()}>
                  {deny.busy ? words.consent.denying : words.consent.deny}
                </button>
                <button type="submit" className="primary" aria-disabled={busy}>
                  {allow.busy ? words.consent.allowing : words.consent.allow}
                </button>
              </div>
            </form>
            {allow.again && <ProvidersAgain returnTo="/" oauth_query={request} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}
