/** The sign-in sends people here if it cannot help them. Shows the code only: any other text could come from anywhere. */
import { words } from '../catalogue.ts';
import { useQuery } from '../ui/address.ts';
import { Page, WayOn } from '../ui/page.tsx';
import { Sentence } from '../ui/sentence.tsx';

export function ErrorPage() {
  const code = useQuery().get('error') ?? '';
  const sentence = new Map(Object.entries(words.failedSignIn.byCode)).get(code);
  return (
    <Page title={words.failedSignIn.title} narrow>
      <p>{sentence ?? words.failedSignIn.unknown}</p>
      {/^[a-z_]{1,64}$/i.test(code) && (
        <p className="hint">
          <Sentence text={words.failedSignIn.code} code={<code>{code}</code>} />
        </p>
      )}
      <WayOn path="/">{words.common.home}</WayOn>
    </Page>
  );
}
