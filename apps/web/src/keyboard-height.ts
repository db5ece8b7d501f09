/**
 * The height that a keyboard leaves. Browsers of iOS lay it over the page, although the page asks for less room; then the page
 * shrinks to the remaining height, so that the composer is above the keys.
 */

/** A bar of the browser takes less. */
const keyboardPx = 120;

export function followKeyboard(window: Window): void {
  const { visualViewport, document } = window;
  if (!visualViewport) return;
  const { style } = document.documentElement;
  visualViewport.addEventListener('resize', () => {
    // A person who zooms wants the page as it is.
    const isOver = visualViewport.scale === 1 && window.innerHeight - visualViewport.height > keyboardPx;
    if (!isOver) return void style.removeProperty('--height');
    style.setProperty('--height', `${Math.round(visualViewport.height)}px`);
    // The browser has moved the page to show the field, which is in sight by now.
    window.scrollTo(0, 0);
  });
}
