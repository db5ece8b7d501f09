/** `/consent`: a program wants to act for a person, who says here whether it may. */
import { type FormEvent, useState } from 'react';
import { Refusal } from '../api/refusal.ts';
import { isFollowable } from '../auth/return-to.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { useQuery } from '../ui/address.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { PasswordAgain, ProvidersAgain, useRecentAction } from '../ui/recent-action.tsx';
import { useResource } from '../ui/resource.ts';
import { scopeWords } from '../ui/scopes.ts';

/** The machine or program that will get the answer. */
function destination(redirectUri: string): string {
  try {
    const { protocol, hostname, host } = new URL(redirectUri);
    if (protocol !== 'http:' && protocol !== 'https:') return `an app on this device (${protocol})`;
    return hostname === '127.0.0.1' || hostname === '[::1]' ? `a program on this computer (${host})` : host;
  } catch {
    return 'an unknown address';
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!deny.busy) void allow.run();
  };
  if (done)
    return (
      <Page title="All set" narrow key="done">
        <Notice kind="good">
          Go back to {who.kind === 'ready' ? who.value.name : 'the app'}; you can close this page.
        </Notice>
      </Page>
    );
  return (
    <Page title="Allow access?" narrow>
      <Loaded of={who} what="Checking the request…">
        {({ name, email }) => (
          <>
            <p>
              <strong>{name}</strong> wants to use your account <strong>{email}</strong>. It will be able to:
            </p>
            <ul>
              {scopeWords((query.get('scope') ?? '').split(' ')).map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
            <p className="hint">
              You’ll return to {destination(query.get('redirect_uri') ?? '')}. Allow only what you started yourself. You
              can revoke it any time in Settings, Apps.
            </p>
            <form onSubmit={submit} method="post">
              {allow.again && <PasswordAgain {...allow} />}
              <Problem refusal={allow.refusal ?? deny.refusal} />
              <div className="actions">
                <button type="button" aria-disabled={busy} onClick={() => !allow.busy && void deny.run()}>
                  {deny.busy ? 'Denying…' : 'Deny'}
                </button>
                <button type="submit" className="primary" aria-disabled={busy}>
                  {allow.busy ? 'Allowing…' : 'Allow'}
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
