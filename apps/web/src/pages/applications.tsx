/** `/applications`: programs that act for the person. */
import { AppWindow } from '../ui/later-icons.tsx';
import type { Application } from '../auth/account.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { scopeWords } from '../ui/scopes.ts';
import { TimedFact } from '../ui/timed-fact.tsx';

export function Applications() {
  const { account } = useRooms();
  const applications = useResource('', account.applications);
  return (
    <Page
      title={words.settings.apps}
      back={{ path: '/account', name: words.shell.settings }}
      lead={words.settings.appsMore}
    >
      <Loaded of={applications} what={words.apps.loading}>
        {(all) =>
          all.length === 0 ? (
            <div className="empty s" role="status">
              <AppWindow className="i" aria-hidden />
              <h2>{words.apps.none}</h2>
              <p className="soft">{words.apps.noneMore}</p>
            </div>
          ) : (
            <ul className="cards">
              {all.map((one) => (
                <Row
                  key={one.clientId}
                  application={one}
                  onRevoked={() =>
                    applications.change((list) => list.filter(({ clientId }) => clientId !== one.clientId))
                  }
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function Row({ application, onRevoked }: { application: Application; onRevoked: () => void }) {
  const { account } = useRooms();
  const { name, scopes, authorizedAt, lastUsedAt } = application;
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">{name}</span>
        <ConfirmButton
          label={words.apps.revokeOf(name)}
          title={words.apps.revokeTitle(name)}
          action={words.apps.revoke}
          doing={words.apps.revoking}
          onYes={async () => {
            await account.revokeApplication(application.clientId);
            onRevoked();
          }}
        >
          <p>{words.apps.revokeMore(name)}</p>
        </ConfirmButton>
      </span>
      <span className="card-facts">
        <TimedFact text={words.apps.allowed} at={authorizedAt} />
        {lastUsedAt !== undefined && <TimedFact text={words.apps.used} at={lastUsedAt} />}
      </span>
      <span className="card-facts">{words.apps.may(scopeWords(scopes).join('; '))}</span>
    </li>
  );
}
