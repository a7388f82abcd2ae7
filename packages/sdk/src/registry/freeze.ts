/** Makes what a loader returns unchangeable, maps included: `Object.freeze` alone leaves `Map.set` working. */

function refuse(): never {
  throw new TypeError('A registry cannot be changed');
}

export function freezeMap<Key, Value>(map: Map<Key, Value>): ReadonlyMap<Key, Value> {
  for (const value of map.values()) deepFreeze(value);
  Object.defineProperties(map, { set: { value: refuse }, delete: { value: refuse }, clear: { value: refuse } });
  return Object.freeze(map);
}

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}

/** For tables looked up by outside names: nothing is inherited, so `constructor` is not a hit. */
export function bareTable<Value>(entries: Iterable<readonly [string, Value]>): Readonly<Record<string, Value>> {
  const table: Record<string, Value> = Object.create(null);
  for (const [key, value] of entries) table[key] = value;
  return deepFreeze(table);
}
