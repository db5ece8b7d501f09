/** A QR code as an SVG element. A chunk of its own (`lazy`): one page needs it. */
import { useMemo } from 'react';
import { encode } from 'uqr';

/** Every row of dark modules as one rectangle. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  for (const [y, row] of rows.entries()) {
    let x = 0;
    while (x < row.length) {
      const from = x;
      while (row[x]) x += 1;
      if (x > from) path += `M${from} ${y}h${x - from}v1h-${x - from}z`;
      x += 1;
    }
  }
  return path;
}

/** `label` describes the target: a screen reader sees nothing else of it. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const { data, size } = encode(text, { ecc: 'M', border: 4 });
    return { size, path: pathOf(data) };
  }, [text]);
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} />
    </svg>
  );
}
