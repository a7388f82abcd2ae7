/** Lists in pages. The cursor is a position: lists are frozen while a server runs. */
const PAGE = 100;

/** The SDK answers with the code of what is thrown. */
class UnknownCursor extends TypeError {
  readonly code = -32_602;
}

export function page<Item>(
  all: readonly Item[],
  cursor: string | undefined,
): { readonly items: Item[]; readonly nextCursor: string | undefined } {
  const start = cursor === undefined ? 0 : positionOf(cursor, all.length);
  const end = start + PAGE;
  return { items: all.slice(start, end), nextCursor: end < all.length ? `${end}` : undefined };
}

function positionOf(cursor: string, length: number): number {
  const position = /^\d{1,9}$/.test(cursor) ? Number(cursor) : -1;
  if (position > 0 && position < length) return position;
  throw new UnknownCursor('Cursor is not one of this list');
}
