/** Where the sign-in sends people whom it cannot help. Shows the code only: any other text could come from anywhere. */
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { useQuery } from '../ui/address.ts';
import { Page } from '../ui/page.tsx';
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
      <p>
        <Link href="/" className="button">
          {words.common.home}
        </Link>
      </p>
    </Page>
  );
}
