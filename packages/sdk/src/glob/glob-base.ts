/** The folder in which everything a set of globs can match must lie, as far as their text tells. */
import { type GlobPath, parseGlob } from './glob-syntax.ts';

/** Names from the root down; empty for the root itself, also without any pattern. */
export function globBase(patterns: readonly string[]): readonly string[] {
  const folders = patterns.flatMap(parseGlob).map(fixedFolder);
  const [first, ...others] = folders;
  if (first === undefined) return [];
  let shared = first.length;
  for (const folder of others) {
    let same = 0;
    while (same < shared && folder[same] === first[same]) same += 1;
    shared = same;
  }
  return first.slice(0, shared);
}

/** The last segment names the match itself, not a folder above it. */
function fixedFolder(path: GlobPath): readonly string[] {
  const names: string[] = [];
  for (const segment of path.slice(0, -1)) {
    if (segment.type !== 'literal') break;
    names.push(segment.text);
  }
  return names;
}
