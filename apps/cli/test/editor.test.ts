/** The line that a person types in `relay attach`. */
import { describe, expect, it } from '@jest/globals';
import { createEditor } from '../src/attach/editor.ts';

describe('the editor', () => {
  it('44: edits at the cursor, with the keys that shells know', () => {
    const editor = createEditor();
    editor.take('water the gardn');
    editor.take('\u001b[D');
    editor.take('e');
    expect(editor.text()).toBe('water the garden');
    editor.take('\u0005 now');
    editor.take('\u0017');
    expect(editor.text()).toBe('water the garden ');
    editor.take('\u0001');
    editor.take('\u001b[3~W');
    expect(editor.text()).toBe('Water the garden ');
    expect(editor.cursor()).toBe(1);
    editor.take('\u0015');
    expect(editor.text()).toBe('ater the garden ');
  });

  it('44: returns Enter and Ctrl-C, and Ctrl-D and digits only on an empty line', () => {
    const editor = createEditor();
    expect(editor.take('3')).toEqual([{ kind: 'digit', digit: 3 }]);
    expect(editor.take('a3')).toEqual([]);
    expect(editor.take('\u0004\r\u0003')).toEqual([{ kind: 'enter' }, { kind: 'interrupt' }]);
    expect(editor.text()).toBe('a3');
    editor.set('');
    expect(editor.take('\u0004')).toEqual([{ kind: 'leave' }]);
  });

  it('44: keeps pasted lines together, also when the paste arrives in pieces', () => {
    const editor = createEditor();
    expect(editor.take('\u001b[20')).toEqual([]);
    expect(editor.take('0~one\r\ntwo\r')).toEqual([]);
    expect(editor.take('three\u001b[201~\r')).toEqual([{ kind: 'enter' }]);
    expect(editor.text()).toBe('one\ntwo\nthree');
    editor.set('a');
    editor.take('\u001b\rb');
    expect(editor.text()).toBe('a\nb');
  });

  it('44: ignores controls and unknown sequences', () => {
    const editor = createEditor();
    expect(editor.take('\u001b[1;5Hx\u0000\u0007\u001bOP')).toEqual([]);
    expect(editor.text()).toBe('x');
  });
});
