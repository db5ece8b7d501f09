/** `/account`: the person, their password, the people they invite, and the ways out. */
import { useState } from 'react';
import { AppWindow, Bell, ChevronRight } from 'lucide-react';
import { Link } from 'wouter';
import type { Me, SignInStatus } from '../auth/account.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Copy } from '../ui/copy.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { fullTime } from '../ui/time.tsx';
import { ChangeName, ChangePassword } from './account-forms.tsx';
import { DeleteAccount, ExportData } from './your-data.tsx';

export function Account() {
  const { account } = useRooms();
  const found = useResource('', async () => {
    const [me, status] = await Promise.all([account.me(), account.status()]);
    return { me, status };
  });
  return (
    <Page title="Settings">
      <Loaded of={found} what="Loading settings…">
        {({ me, status }) => (
          <Known
            me={me}
            status={status}
            onRename={(name) => found.change((value) => ({ ...value, me: { ...value.me, name } }))}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Known({ me, status, onRename }: { me: Me; status: SignInStatus; onRename: (name: string) => void }) {
  return (
    <>
      <dl className="facts">
        <dt>Name</dt>
        <dd>{me.name}</dd>
        <dt>Email</dt>
        <dd>{me.email}</dd>
        <dt>Signed in since</dt>
        <dd>{fullTime(me.login.createdAt)}</dd>
      </dl>
      <ul className="set-list">
        <li>
          <Link href="/notifications" className="li">
            <Bell className="i" aria-hidden />
            <span className="grow">
              <b>Notifications</b>
              <span className="d">This browser, your phone, other programs</span>
            </span>
            <ChevronRight className="i" aria-hidden />
          </Link>
        </li>
        <li>
          <Link href="/applications" className="li">
            <AppWindow className="i" aria-hidden />
            <span className="grow">
              <b>Apps</b>
              <span className="d">Apps you have allowed to use your account</span>
            </span>
            <ChevronRight className="i" aria-hidden />
          </Link>
        </li>
      </ul>
      <ChangeName name={me.name} onRename={onRename} />
      <ChangePassword minPasswordLength={status.minPasswordLength} email={me.email} />
      {status.signUp !== 'closed' && <Invite />}
      <SignOut />
      <ExportData />
      <DeleteAccount />
    </>
  );
}

function Invite() {
  const { account } = useRooms();
  const [invitation, setInvitation] = useState<{ url: string; expiresAt: string }>();
  const invite = useAction(async () => setInvitation(await account.invite()));
  return (
    <section aria-labelledby="invite">
      <h2 id="invite">Invite someone</h2>
      <p>The link creates one new account on this relay. They can’t see your sessions or machines.</p>
      {invitation && (
        <>
          <Copy text={invitation.url} label="the invitation link" />
          <p className="hint">Works once, until {fullTime(invitation.expiresAt)}.</p>
        </>
      )}
      <Problem refusal={invite.refusal} />
      <button type="button" aria-disabled={invite.busy} onClick={() => void invite.run()}>
        {invite.busy ? 'Creating…' : invitation ? 'Create another link' : 'Create invitation link'}
      </button>
    </section>
  );
}

function SignOut() {
  const { access, account } = useRooms();
  const [asking, setAsking] = useState(false);
  const leave = useAction(() => access.leave(account.signOut));
  const leaveEverywhere = useAction(() => access.leave(account.signOutEverywhere));
  return (
    <section aria-labelledby="sign-out">
      <h2 id="sign-out">Sign out</h2>
      <p>Your machines stay connected.</p>
      <Problem refusal={leave.refusal} />
      <div className="actions start">
        <button type="button" aria-disabled={leave.busy} onClick={() => void leave.run()}>
          {leave.busy ? 'Signing out…' : 'Sign out'}
        </button>
        <button type="button" className="danger" onClick={() => setAsking(true)}>
          Sign out everywhere
        </button>
      </div>
      {asking && (
        <Confirm
          title="Sign out everywhere?"
          action="Sign out everywhere"
          doing="Signing out…"
          busy={leaveEverywhere.busy}
          refusal={leaveEverywhere.refusal}
          onYes={() => void leaveEverywhere.run()}
          onNo={() => setAsking(false)}
        >
          <p>Signs out every browser and app. Your machines stay connected.</p>
        </Confirm>
      )}
    </section>
  );
}
