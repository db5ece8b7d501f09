// Two renders of the same object, with and without a component → one object that has the difference behind a condition.
import { isDeepStrictEqual } from 'node:util';
import { When } from './emit.mjs';

const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The object that is `without`, and `with` where the condition holds.
 * @throws Error where a component does more than add: a chart made from that would have to say things twice
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

/** Items that only `withIt` has are conditional. An item that both have at the same place from the front may itself have grown. */
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
