/** Markdown as elements of React: no HTML is ever made. A block is rendered again only when its text changes. */
import { type ReactNode, memo, useRef } from 'react';
import { Circle } from '../icons.tsx';
import { CircleCheck } from '../../ui/icons.tsx';
import type { Token, Tokens } from 'marked';
import { words } from '../../catalogue.ts';
import { type Blocks, blocksOf, noBlocks } from './blocks.ts';
import { CodeBlock } from './code-block.tsx';
import { inline } from './inline.tsx';

export function Markdown({ text, open = false }: { text: string; open?: boolean }) {
  const cached = useRef<Blocks>(noBlocks);
  const shown = useRef<{ text: string; open: boolean; blocks: Blocks }>(undefined);
  if (shown.current?.text !== text || shown.current.open !== open) {
    cached.current = blocksOf(text, open, cached.current);
    shown.current = { text, open, blocks: cached.current };
  }
  const { tokens } = shown.current.blocks;
  return (
    <div className={open ? 'md open' : 'md'} dir="auto">
      {tokens.map((token, index) => (
        <Block key={index} token={token} open={open && index === tokens.length - 1} />
      ))}
    </div>
  );
}

const Block = memo(
  function Block({ token, open }: { token: Token; open: boolean }): ReactNode {
    return block(token, open);
  },
  (one, other) => one.open === other.open && one.token.type === other.token.type && one.token.raw === other.token.raw,
);

const blocks = (tokens: readonly Token[] | undefined, open: boolean): ReactNode =>
  tokens?.map((token, index) => <Block key={index} token={token} open={open && index === tokens.length - 1} />);

/** Plain text, too much for one layout. */
const isLongText = (token: Token): boolean =>
  token.raw.length > 16_384 && 'tokens' in token && token.tokens?.length === 1 && token.tokens[0]?.type === 'text';

/** The page has its heading already. */
const headings = ['h2', 'h2', 'h3', 'h4', 'h5', 'h6'] as const;
const sides: Readonly<Record<string, string>> = { right: 'to-right', center: 'to-middle' };

function block(token: Token, open: boolean): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return null;
    case 'heading': {
      const Heading = headings[(token as Tokens.Heading).depth - 1] ?? 'h6';
      return <Heading>{inline(token.tokens)}</Heading>;
    }
    case 'paragraph':
      return isLongText(token) ? <PlainText text={token.raw.trimEnd()} /> : <p>{inline(token.tokens)}</p>;
    case 'text':
      return <span className="line">{token.tokens ? inline(token.tokens) : inline([token])}</span>;
    case 'code': {
      const { text, lang } = token as Tokens.Code;
      return <CodeBlock text={text} language={lang ?? ''} open={open} />;
    }
    case 'blockquote':
      return <blockquote>{blocks(token.tokens, open)}</blockquote>;
    case 'list':
      return <List list={token as Tokens.List} open={open} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    case 'hr':
      return <hr />;
    case 'plain':
      return <PlainText text={token.raw} />;
    case 'html':
      return <p>{token.raw.trimEnd()}</p>;
    default:
      return <p>{token.raw}</p>;
  }
}

function List({ list, open }: { list: Tokens.List; open: boolean }) {
  const items = list.items.map((item, index) => {
    const content = blocks(item.tokens, open && index === list.items.length - 1);
    if (!item.task) return <li key={index}>{content}</li>;
    return (
      <li key={index} className={item.checked ? 'task done' : 'task'}>
        {item.checked ? <CircleCheck className="i" aria-hidden /> : <Circle className="i" aria-hidden />}
        <div>
          <span className="sr">{item.checked ? words.plan.done : words.plan.open} </span>
          {content}
        </div>
      </li>
    );
  });
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }) {
  const side = (index: number) => {
    const name = sides[table.align[index] ?? ''];
    return name === undefined ? {} : { className: name };
  };
  return (
    <div className="wide-table" tabIndex={0} role="region" aria-label={words.table}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} scope="col" {...side(index)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} {...side(column)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const pieceCharacters = 4096;

/** Cut after the last line that fits, else in the middle of an oversized line. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const line = text.lastIndexOf('\n', start + pieceCharacters);
    const end =
      text.length - start <= pieceCharacters ? text.length : line > start ? line + 1 : start + pieceCharacters;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** A long text as written, in pieces: the browser lays out only visible pieces. */
const PlainText = ({ text }: { text: string }): ReactNode => (
  <div className="plain">
    {piecesOf(text).map((piece, index) => (
      <p key={index}>{piece}</p>
    ))}
  </div>
);
