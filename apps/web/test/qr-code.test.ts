import { expect, it } from '@jest/globals';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { encode } from 'uqr';
import QrCode from '../src/ui/qr-code.tsx';

it('draws every dark module of the code, with the standard margin of four', () => {
  const text = 'https://relay.example.org/team';
  const markup = renderToStaticMarkup(createElement(QrCode, { text, label: 'QR code of an address' }));
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const drawn = data.map((row) => row.map(() => false));
  for (const [, x, y, width] of markup.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    drawn[Number(y)]!.fill(true, Number(x), Number(x) + Number(width));
  expect(drawn).toEqual(data);
  expect(drawn[3]!.includes(true)).toBe(false);
  expect(markup).toContain(`viewBox="0 0 ${size} ${size}"`);
  expect(markup).toContain('role="img" aria-label="QR code of an address"');
});
