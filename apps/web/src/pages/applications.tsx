/** `/applications`: programs that act for the person. */
import { useState } from 'react';
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
    <Page title="Apps" back={{ path: '/account', name: 'Settings' }} lead="Apps you have allowed to use your account">
      <Loaded of={applications} what="Loading apps…">
        {(all) =>
          all.length === 0 ? (
            <p role="status">No apps yet</p>
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
          title={`Revoke access for ${name}?`}
          action="Revoke"
          doing="Revoking…"
          busy={revoke.busy}
          refusal={revoke.refusal}
          onYes={() => void revoke.run()}
          onNo={() => setAsking(false)}
        >
          <p>{name} loses access immediately.</p>
        </Confirm>
      )}
    </li>
  );
}
