/** A path with its links resolved, as processes see it. */
import { realpathSync } from 'node:fs';

export function realPath(path: string): string {
  return realpathSync.native(path);
}
