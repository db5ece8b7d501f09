/** The address of this relay, as the page carries it: it can have a path, and people might have used another name. */
export interface Place {
  /** PUBLIC_URL, without a trailing slash. */
  readonly publicUrl: string;
  /** Path of PUBLIC_URL: empty, or `/relay`. */
  readonly base: string;
  /** The certificate authority of this relay itself (`--lan`): where a machine fetches the file, and its SHA-256 in hex. */
  readonly authority?: { readonly url: string; readonly sha256: string };
  /** The page was opened under another origin: signing in cannot work here. */
  readonly isElsewhere: boolean;
}

export function readPlace(document: Document, location: Location): Place {
  const relayUrl = document.querySelector<HTMLMetaElement>('meta[name="relay-url"]')?.content ?? '';
  const [address, url = '', sha256] = relayUrl.split(' ') as [string, string?, string?];
  const publicUrl = (address || location.origin).replace(/\/+$/, '');
  const { origin, pathname } = new URL(publicUrl);
  return {
    publicUrl,
    base: pathname.replace(/\/+$/, ''),
    isElsewhere: origin !== location.origin,
    ...(sha256 && { authority: { url, sha256 } }),
  };
}
