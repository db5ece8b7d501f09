/** Part of `/account`: the browsers where the person is signed in, and signing one out. */
import type { SignedInBrowser } from '../auth/account.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { browserName } from '../ui/browser-name.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { useResource } from '../ui/resource.ts';
import { TimedFact } from '../ui/timed-fact.tsx';

export function Browsers() {
  const { account } = useRooms();
  const browsers = useResource('', account.browsers);
  return (
    <section aria-labelledby="browsers">
      <h2 id="browsers">{words.browsers.title}</h2>
      <Loaded of={browsers} what={words.browsers.loading}>
        {(all) => (
          <ul className="cards">
            {all.map((one) => (
              <Row
                key={one.id}
                browser={one}
                onEnded={() => browsers.change((list) => list.filter(({ id }) => id !== one.id))}
              />
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function Row({ browser, onEnded }: { browser: SignedInBrowser; onEnded: () => void }) {
  const { account } = useRooms();
  const name = browserName(browser.userAgent ?? '');
  return (
    <li className="card">
      <span className="card-head">
        <span className="card-title">{name}</span>
        {browser.isThis ? (
          <span className="chip good">{words.browsers.isThis}</span>
        ) : (
          <ConfirmButton
            label={words.browsers.endOf(name)}
            title={words.browsers.endTitle(name)}
            action={words.settings.signOut}
            doing={words.settings.signingOut}
            onYes={async () => {
              await account.endBrowser(browser.id);
              onEnded();
            }}
          >
            <p>{words.browsers.endMore}</p>
          </ConfirmButton>
        )}
      </span>
      <span className="card-facts">
        <TimedFact text={words.browsers.since} at={browser.createdAt} />
        <TimedFact text={words.apps.used} at={browser.lastUsedAt} />
        {browser.address !== undefined && <span>{browser.address}</span>}
      </span>
    </li>
  );
}
