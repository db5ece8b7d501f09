/** `/applications`: programs that act for the person. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Application } from '../auth/account.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useResource } from '../ui/resource.ts';
import { scopeWords } from '../ui/scopes.ts';
import { Ago } from '../ui/time.tsx';

export function Applications() {
  const { account } = useRooms();
  const applications = useResource('', account.applications);
  return (
    <Page title="Applications" aside={<Link href="/account">Account</Link>}>
      <p>Programs that you allowed to act for you. These pages themselves are not among them.</p>
      <Loaded of={applications} what="Loading your applications …">
        {(all) =>
          all.length === 0 ? (
            <p role="status">None.</p>
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
  const [asking, setAsking] = useState(false);
  const revoke = useAction(async () => {
    await account.revokeApplication(application.clientId);
    onRevoked();
  });
  const { name, scopes, authorizedAt, lastUsedAt } = application;
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">{name}</span>
        <button type="button" className="danger" onClick={() => setAsking(true)}>
          Revoke<span className="for-readers"> {name}</span>
        </button>
      </span>
      <span className="card-facts">
        <span>
          allowed <Ago at={authorizedAt} />
        </span>
        {lastUsedAt !== undefined && (
          <span>
            last used <Ago at={lastUsedAt} />
          </span>
        )}
      </span>
      <span className="card-facts">may {scopeWords(scopes).join('; ')}</span>
      {asking && (
        <Confirm
          title={`Revoke the access of ${name}?`}
          action="Revoke"
          busy={revoke.busy}
          refusal={revoke.refusal}
          onYes={() => void revoke.run()}
          onNo={() => setAsking(false)}
        >
          <p>It is signed out at once, wherever it runs.</p>
        </Confirm>
      )}
    </li>
  );
}
