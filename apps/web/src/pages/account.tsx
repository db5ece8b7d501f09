/** `/account`: the person, their password, the people they invite, and the ways out. */
import { useState } from 'react';
import { ChevronRight, Clock } from '../ui/icons.tsx';
import { icon } from '../ui/icon.tsx';
import { AppWindow, Bell, History } from '../ui/later-icons.tsx';
import { Link } from 'wouter';
import type { Me, SignInStatus } from '../auth/account.ts';
import { words } from '../catalogue.ts';
import { ThisDevice } from '../offline/this-device.tsx';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Copy } from '../ui/copy.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { fullTime } from '../ui/time.tsx';
import { Appearance } from './appearance.tsx';
import { Browsers } from './browsers.tsx';
import { ChangeName, ChangePassword } from './account-forms.tsx';
import { OnPhone } from './on-phone.tsx';
import { Passkeys } from './passkeys.tsx';
import { SecondStep } from './second-step.tsx';
import { DeleteAccount, ExportData } from './your-data.tsx';

/** Copied from Lucide 1.75 (ui/LICENSE.lucide). Only this page uses it. */
const Gauge = icon(
  'gauge',
  <>
    <path d="m12 14 4-4" />
    <path d="M3.34 19a10 10 0 1 1 17.32 0" />
  </>,
);

export function Account() {
  const { account } = useRooms();
  const found = useResource('', async () => {
    const [me, status] = await Promise.all([account.me(), account.status()]);
    return { me, status };
  });
  return (
    <Page title={words.shell.settings}>
      <Loaded of={found} what={words.settings.loading}>
        {({ me, status }) => (
          <AccountDetails
            me={me}
            status={status}
            onRename={(name) => found.change((value) => ({ ...value, me: { ...value.me, name } }))}
          />
        )}
      </Loaded>
    </Page>
  );
}

/** The pages of the settings. */
const pagesOf = () => [
  {
    path: '/notifications',
    Icon: Bell,
    name: words.settings.notifications,
    more: words.settings.notificationsMore,
  },
  { path: '/applications', Icon: AppWindow, name: words.settings.apps, more: words.settings.appsMore },
  { path: '/usage', Icon: Gauge, name: words.settings.usage, more: words.settings.usageMore },
  { path: '/later', Icon: Clock, name: words.settings.later, more: words.settings.laterMore },
  { path: '/activity', Icon: History, name: words.activity.title, more: words.activity.more },
];

function AccountDetails({ me, status, onRename }: { me: Me; status: SignInStatus; onRename: (name: string) => void }) {
  return (
    <>
      <dl className="facts">
        <dt>{words.common.name}</dt>
        <dd>{me.name}</dd>
        <dt>{words.signIn.email}</dt>
        <dd>{me.email}</dd>
        <dt>{words.settings.since}</dt>
        <dd>{fullTime(me.login.createdAt)}</dd>
      </dl>
      <ul className="set-list">
        {pagesOf().map(({ path, Icon, name, more }) => (
          <li key={path}>
            <Link href={path} className="li">
              <Icon className="i" aria-hidden />
              <span className="grow">
                <b>{name}</b>
                <span className="d">{more}</span>
              </span>
              <ChevronRight className="i" aria-hidden />
            </Link>
          </li>
        ))}
      </ul>
      <Appearance />
      <OnPhone />
      <ThisDevice />
      <ChangeName name={me.name} onRename={onRename} />
      <ChangePassword minPasswordLength={status.minPasswordLength} email={me.email} />
      <SecondStep email={me.email} />
      <Passkeys />
      {status.signUp !== 'closed' && <Invite />}
      <Browsers />
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
      <h2 id="invite">{words.settings.invite}</h2>
      <p>{words.settings.inviteMore}</p>
      {invitation && (
        <>
          <Copy text={invitation.url} label={words.settings.inviteLink} />
          <p className="hint">{words.settings.inviteUntil(fullTime(invitation.expiresAt))}</p>
        </>
      )}
      <Problem refusal={invite.refusal} />
      <button type="button" aria-disabled={invite.busy} onClick={() => void invite.run()}>
        {invite.busy
          ? words.settings.inviteMaking
          : invitation
            ? words.settings.inviteAnother
            : words.settings.inviteMake}
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
      <h2 id="sign-out">{words.settings.signOut}</h2>
      <p>{words.settings.signOutMore}</p>
      <Problem refusal={leave.refusal} />
      <div className="actions start">
        <button type="button" aria-disabled={leave.busy} onClick={() => void leave.run()}>
          {leave.busy ? words.settings.signingOut : words.settings.signOut}
        </button>
        <button type="button" className="danger" onClick={() => setAsking(true)}>
          {words.settings.everywhere}
        </button>
      </div>
      {asking && (
        <Confirm
          title={words.settings.everywhereTitle}
          action={words.settings.everywhere}
          doing={words.settings.signingOut}
          yes={leaveEverywhere}
          onNo={() => setAsking(false)}
        >
          <p>{words.settings.everywhereMore}</p>
        </Confirm>
      )}
    </section>
  );
}
