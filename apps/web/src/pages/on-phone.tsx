/** Part of `/account`: how to open these pages on a phone, and the obstacles. */
import { Suspense } from 'react';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { loadedLater } from '../ui/loaded-later.tsx';

const QrCode = loadedLater(async () => (await import('../ui/qr-code.tsx')).default);

const isOfThisMachine = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);

export function OnPhone() {
  const { publicUrl } = useRooms().place;
  const isHere = isOfThisMachine(new URL(publicUrl).hostname);
  return (
    <section aria-labelledby="on-phone">
      <h2 id="on-phone">{words.phone.title}</h2>
      {isHere ? (
        <p>
          {words.phone.here} <a href={`${publicUrl}/docs/reach.html`}>{words.phone.how}</a>
        </p>
      ) : (
        <p>{words.phone.scan}</p>
      )}
      {!isHere && (
        <Suspense fallback={null}>
          <QrCode text={publicUrl} label={words.phone.label(publicUrl)} />
        </Suspense>
      )}
      {!window.isSecureContext && <p className="hint">{words.phone.insecure}</p>}
    </section>
  );
}
