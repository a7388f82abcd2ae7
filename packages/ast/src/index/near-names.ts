/** Names of declarations that a misspelt one may have meant. */
import type { FileTable } from './file-table.ts';

const MOST = 5;
const MAX_LENGTH = 80;

/** By case, as a longer name, or with one or two letters changed; the nearest first. */
export function nearNames(wanted: string, table: FileTable): readonly string[] {
  if (wanted.length > MAX_LENGTH) return [];
  const plain = wanted.toLowerCase();
  const found: { readonly name: string; readonly distance: number }[] = [];
  for (let place = 0; place < table.names.size; place++) {
    const name = table.names.text(place);
    const distance = distanceOf(plain, name.toLowerCase());
    if (distance === undefined || (table.withName(place)?.length ?? 0) === 0) continue;
    found.push({ name, distance });
  }
  return found
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ name }) => name);
}

function distanceOf(wanted: string, name: string): number | undefined {
  if (name === wanted) return 0;
  const most = wanted.length < 4 ? 1 : 2;
  if (Math.abs(name.length - wanted.length) <= most) {
    const edits = editsBetween(wanted, name);
    if (edits <= most) return edits;
  }
  const isPart = wanted.length >= 4 && name.includes(wanted);
  return isPart ? 3 + Math.abs(name.length - wanted.length) : undefined;
}

/** Letters put in, left out or changed; two that changed places count once. */
function editsBetween(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      next[j] = Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + cost);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) next[j] = Math.min(next[j] ?? 0, (before[j - 2] ?? 0) + 1);
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
