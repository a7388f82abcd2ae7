/** `a..b` and `a...b` taken apart as git does it: a side that is left out is HEAD. */

export interface RevisionRange {
  readonly from: string;
  readonly to: string;
  /** Three dots: what both have in common plays a part. */
  readonly symmetric: boolean;
}

export function parseRange(text: string): RevisionRange | undefined {
  const at = text.indexOf('..');
  if (at < 0) return undefined;
  const symmetric = text.startsWith('...', at);
  return { from: text.slice(0, at) || 'HEAD', to: text.slice(at + (symmetric ? 3 : 2)) || 'HEAD', symmetric };
}
