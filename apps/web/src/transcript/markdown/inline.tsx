/** Text with its emphasis, code and links. HTML is shown as it is written. */
import type { ReactNode } from 'react';
import type { Token, Tokens } from 'marked';
import { decoded } from './entities.ts';

/** Accepts addresses of the web and of mail. Everything else stays text. */
export function safeAddress(href: unknown): string | undefined {
  if (typeof href !== 'string' || href.length > 4096) return undefined;
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** True for a text that looks like an address and links to another place. */
function isOtherAddress(text: string, address: string): boolean {
  const [, host] = /^(?:https?:\/\/|(?=www\.))([^/?#\s]+)\S*$/i.exec(text.trim()) ?? [];
  return host !== undefined && host.toLowerCase() !== new URL(address).host;
}

/** `text`: the text of the link, as shown. */
function Anchor({ href, text, children }: { href: unknown; text: string; children: ReactNode }) {
  const address = safeAddress(href);
  if (address === undefined) return <>{children}</>;
  const shown = isOtherAddress(text, address) ? address : children;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {shown}
    </a>
  );
}

export function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => <Inline key={index} token={token} />);
}

function Inline({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <Anchor href={(token as Tokens.Link).href} text={(token as Tokens.Link).text}>
          {inline(token.tokens)}
        </Anchor>
      );
    case 'image': {
      // A picture from elsewhere becomes a link: the policy blocks external images.
      const { href, text } = token as Tokens.Image;
      return (
        <Anchor href={href} text={text}>
          {text === '' ? href : decoded(text)}
        </Anchor>
      );
    }
    case 'checkbox':
      return null;
    case 'escape':
      return decoded((token as Tokens.Escape).text);
    case 'text':
      return token.tokens ? inline(token.tokens) : decoded((token as Tokens.Text).text);
    default:
      return token.raw;
  }
}
