/** A sentence of the catalogue with elements in its places, which are written `{name}`: each language has its own order. */
import { Fragment, type ReactNode } from 'react';

export const Sentence = ({ text, ...places }: { text: string } & Readonly<Record<string, ReactNode>>): ReactNode =>
  text
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : <Fragment key={index}>{places[part]}</Fragment>));
