// Two renders of the same object, with and without a component → one object with a condition around each difference.
import { isDeepStrictEqual } from 'node:util';
import { When } from './emit.mjs';

const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The object equals `without`, or `withIt` if the condition holds.
 * @throws Error if a component does more than add, because the chart would have to repeat parts
 */
export function merged(without, withIt, condition) {
  if (isDeepStrictEqual(without, withIt)) return without;
  if (isMap(without) && isMap(withIt)) {
    const lost = Object.keys(without).filter((key) => !(key in withIt));
    if (lost.length > 0) throw new Error(`the component takes away ${lost.join(', ')}`);
    return Object.fromEntries(
      Object.entries(withIt).map(([key, value]) => [
        key,
        key in without ? merged(without[key], value, condition) : new When(condition, value),
      ]),
    );
  }
  if (Array.isArray(without) && Array.isArray(withIt)) return mergedItems(without, withIt, condition);
  throw new Error(`the component changes ${JSON.stringify(without)} to ${JSON.stringify(withIt)}`);
}

/** Items that only `withIt` has become conditional. Items at the same place in both can have different content. */
function mergedItems(without, withIt, condition) {
  let at = 0;
  const items = withIt.map((item, place) => {
    const left = withIt.length - place;
    const isAdded = !isDeepStrictEqual(without[at], item) && left > without.length - at;
    if (isAdded) return new When(condition, item);
    at += 1;
    return merged(without[at - 1], item, condition);
  });
  if (at < without.length) throw new Error(`the component takes away items of ${JSON.stringify(without)}`);
  return items;
}
