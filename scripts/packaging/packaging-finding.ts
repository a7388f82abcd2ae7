/** Findings about packages, in the form the structure checks use; the package takes the place of the file. */
import type { Finding } from '../structure/finding.ts';

export function packagingFinding(check: string, file: string, what: string, next: string): Finding {
  return { level: 'fail', check, file, what, next };
}
