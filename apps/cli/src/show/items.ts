/**
 * Prints items on a screen that only grows: each item is printed when it has news. Remembers the printed text, so that an item can arrive
 * any number of times.
 */
import type { Item, Message } from '@relay/protocol';
import {
  type ItemWish,
  fileText,
  headingOf,
  imageText,
  markText,
  planText,
  questionText,
  toolText,
  unknownText,
} from './item.ts';
import { fieldsOf, listOf } from './shape.ts';
import type { Paint } from './style.ts';
import { plain } from './text.ts';

/** Number of remembered items; older items no longer change. */
const mostRemembered = 5000;
/** A growing text holds back its last characters, where a colour or a character can be incomplete. */
const heldCharacters = 64;

interface ItemsWish extends ItemWish {
  thoughts: boolean;
}

interface Printed {
  /** Printed characters of `content`. */
  characters: number;
  /** The last printed text of any item that is not a growing text. */
  text: string;
  isWhole: boolean;
}

interface ItemsView {
  item(item: Item): string;
  message(message: Message): string;
  /** Returns the line break needed before other output, if a text was left in the middle of a line. */
  interrupt(): string;
}

export function createItemsView(wish: ItemsWish): ItemsView {
  const { style } = wish;
  const printed = new Map<string, Printed>();
  /** The item whose text is last on the screen, where more of it can follow. */
  let current: { uuid: string; isMidLine: boolean } | undefined;

  const memoryOf = (uuid: string): Printed => {
    const record = printed.get(uuid) ?? { characters: 0, text: '', isWhole: false };
    printed.set(uuid, record);
    if (printed.size > mostRemembered) printed.delete(printed.keys().next().value!);
    return record;
  };
  const interrupt = () => {
    const end = current?.isMidLine ? '\n' : '';
    current = undefined;
    return end;
  };

  /** The length of the part of a text that can no longer change. */
  const readyOf = (text: string, isOpen: boolean): number => {
    if (!isOpen) return text.trimEnd().length;
    const space = Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n')) + 1;
    const ready = Math.max(space, text.length - heldCharacters);
    const code = text.charCodeAt(ready - 1);
    return code >= 0xd800 && code <= 0xdbff ? ready - 1 : ready;
  };

  const words = (item: Item, doing = '', paint?: Paint): string => {
    const memory = memoryOf(item.uuid);
    const { characters: from, isWhole } = memory;
    const isOpen = item.part.open === true;
    if (isWhole) return '';
    const to = readyOf(item.content, isOpen);
    memory.isWhole = !isOpen;
    const images = listOf(fieldsOf(item.part).images, 20)
      .map((image) => imageText(image, wish))
      .join('');
    const files = listOf(fieldsOf(item.part).files, 20)
      .map((file) => fileText(file, wish))
      .join('');
    const attached = images + files;
    if (to <= from && attached === '') {
      return isOpen || current?.uuid !== item.uuid ? '' : interrupt();
    }
    memory.characters = Math.max(from, to);
    const isNext = current?.uuid === item.uuid;
    const start = isNext ? '' : `${interrupt()}\n${headingOf(item, style, doing)}`;
    const piece = plain(item.content.slice(from, to));
    current = { uuid: item.uuid, isMidLine: piece === '' ? false : !piece.endsWith('\n') };
    const text = `${start}${style(paint, piece)}`;
    return isOpen ? text : `${text}${interrupt()}${attached}`;
  };

  /** Prints an item if its text differs from the last print; with `about`, if that differs. */
  const whole = (item: Item, text: string, about = text): string => {
    const memory = memoryOf(item.uuid);
    if (text === '' || memory.text === about) return '';
    memory.text = about;
    return `${interrupt()}${text}`;
  };
  /** A pending call prints nothing; a running call is printed once, even if its title changes. */
  const call = (item: Item): string => {
    const { status } = item.part;
    if (status === 'pending') return '';
    const text = toolText(item, wish);
    return whole(item, text, status === 'running' ? status : text);
  };

  const show = (item: Item): string => {
    switch (item.part.kind) {
      case 'user':
      case 'text':
      case 'error':
        return words(item);
      case 'thought':
        return wish.thoughts ? words(item, ' thinks', 'dim') : '';
      case 'tool':
        return call(item);
      case 'plan':
        return whole(item, planText(item, wish));
      case 'usage':
        return '';
      case 'question':
        return whole(item, questionText(item, wish));
      case 'image':
        return whole(item, imageText(item.part, wish));
      case 'file':
        return whole(item, fileText(item.part, wish));
      case 'mark':
        return whole(item, markText(item, wish));
      default:
        return whole(item, unknownText(item, style));
    }
  };

  return {
    item: show,
    message(message) {
      const { uuid, role, content, timestamp, truncated } = message;
      const cut = truncated ? `${style('dim', '(cut at 256 KiB)')}\n` : '';
      return words({ uuid, role, content, timestamp, seq: 0, part: { kind: 'text' } }) + cut;
    },
    interrupt,
  };
}
