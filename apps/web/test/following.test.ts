import { describe, expect, it } from '@jest/globals';
import { type Box, distanceToEnd, follows } from '../src/transcript/following.ts';

/** A log that scrolls like in a browser: positions are bounded, and events can precede its scroll event. */
class ScrolledLog {
  box: Box = { scrollTop: 0, scrollHeight: 700, clientHeight: 700 };
  isFollowing = true;
  #last: Box = { ...this.box };
  #isDue = false;

  change(change: Partial<Box>): void {
    this.box = { ...this.box, ...change };
    this.scrollTo(this.box.scrollTop);
  }
  scrollTo(top: number): void {
    const bounded = Math.max(0, Math.min(top, this.box.scrollHeight - this.box.clientHeight));
    this.#isDue ||= bounded !== this.box.scrollTop;
    this.box.scrollTop = bounded;
  }
  /** The resize observer, called once for each drawn frame. */
  draw(): void {
    if (this.isFollowing) this.scrollTo(this.box.scrollHeight);
  }
  tellScroll(isTouched = false): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    this.isFollowing = follows(this.isFollowing, this.#last, this.box, isTouched);
    this.#last = { ...this.box };
    if (this.isFollowing) this.scrollTo(this.box.scrollHeight);
  }
}

/** Numbers from 0 to 1, the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

describe('W13: following the last row of a log', () => {
  it('W13: continues for an hour of text, late measurements, images and resized windows', () => {
    const random = numbers(26);
    const log = new ScrolledLog();
    for (let second = 0; second < 3600; second += 1) {
      const { scrollHeight } = log.box;
      // The text of a second, and sometimes a row that is higher or lower than its estimate.
      log.change({ scrollHeight: scrollHeight + 24 });
      log.draw();
      if (second % 7 === 0) log.change({ scrollHeight: log.box.scrollHeight + Math.round(900 * random()) });
      if (second % 11 === 0) {
        const less = Math.round(300 * random());
        log.change({ scrollHeight: log.box.scrollHeight - less, scrollTop: log.box.scrollTop - less });
      }
      if (second % 60 === 59) log.change({ clientHeight: 300 + Math.round(600 * random()) });
      // The page is in the background for a minute and draws nothing.
      if (second % 600 > 540) continue;
      log.tellScroll();
      expect({ second, isFollowing: log.isFollowing }).toEqual({ second, isFollowing: true });
      log.draw();
      expect(distanceToEnd(log.box)).toBeLessThanOrEqual(0);
    }
  });

  it('W13: stops when the browser scrolls up, for instance to a found word', () => {
    const log = new ScrolledLog();
    log.change({ scrollHeight: 5000 });
    log.draw();
    log.tellScroll();
    log.scrollTo(1000);
    log.tellScroll();
    expect(log.isFollowing).toBe(false);
  });

  it('W13: stops when a person scrolls up, even while text arrives, and starts again at the bottom', () => {
    const log = new ScrolledLog();
    log.change({ scrollHeight: 5000 });
    log.draw();
    log.tellScroll();
    log.scrollTo(log.box.scrollTop - 200);
    log.change({ scrollHeight: 5100 });
    log.tellScroll(true);
    expect(log.isFollowing).toBe(false);
    const { scrollTop } = log.box;
    log.change({ scrollHeight: 6000 });
    log.draw();
    expect(log.box.scrollTop).toBe(scrollTop);
    log.scrollTo(5290);
    log.tellScroll();
    expect(log.isFollowing).toBe(true);
  });
});
