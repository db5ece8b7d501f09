/** Where this relay is, as it says itself in the page: its address may have a path, and people may have come by another name. */
export interface Place {
  /** PUBLIC_URL, without a slash at the end. */
  readonly publicUrl: string;
  /** Path of PUBLIC_URL: empty, or `/relay`. */
  readonly base: string;
  /** The page was opened under another origin: signing in cannot work here. */
  readonly isElsewhere: boolean;
}

export function readPlace(document: Document, location: Location): Place {
  const told = document.querySelector<HTMLMetaElement>('meta[name="relay-url"]')?.content ?? '';
  const publicUrl = (told === '' ? location.origin : told).replace(/\/+$/, '');
  const { origin, pathname } = new URL(publicUrl);
  return { publicUrl, base: pathname.replace(/\/+$/, ''), isElsewhere: origin !== location.origin };
}
