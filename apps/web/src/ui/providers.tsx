/** Ways to sign in with an account elsewhere, where the operator set some up. */
import { Refusal } from '../api/refusal.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from './action.ts';
import { Problem } from './notice.tsx';

interface ProvidersProps {
  providers: readonly { id: string; name: string }[];
  /** Path of the page to return to. */
  returnTo: string;
  invitation?: string;
  oauth_query?: string;
}

export function Providers({ providers, returnTo, ...carried }: ProvidersProps) {
  const { account, place } = useRooms();
  const leave = useAction(async (provider: string) => {
    const callbackURL = `${place.publicUrl}${returnTo}`;
    const errorCallbackURL = `${place.publicUrl}/error`;
    const { url } = await account.signInAt({ provider, callbackURL, errorCallbackURL, ...carried });
    if (url === undefined || !/^https?:/.test(url)) throw new Refusal('SIGN_IN_FAILED', '');
    window.location.assign(url);
  });
  if (providers.length === 0) return null;
  return (
    <div className="providers">
      <Problem refusal={leave.refusal} />
      {providers.map(({ id, name }) => (
        <button key={id} type="button" aria-disabled={leave.busy} onClick={() => void leave.run(id)}>
          {words.signIn.with(name)}
        </button>
      ))}
    </div>
  );
}
