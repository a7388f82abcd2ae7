/** Deep, frozen copy of plain data: what it returns shares nothing with the input and cannot be changed by anyone. */

/** Members that are `undefined` are dropped, as JSON would. */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.freeze(Object.fromEntries(members.map(([key, member]) => [key, copy(member)])));
}
