/** Files in a known language that people do not read: minified copies and lock files, whose every key would be a declaration. */
import path from 'node:path';
import type { SkipReason } from '../contracts/code-index-contract.ts';

const MINIFIED = /\.min\.(?:js|mjs|cjs|css)$/i;
const LOCK_FILES = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'packages.lock.json',
  'composer.lock',
  'Pipfile.lock',
]);

export function skipByName(file: string): SkipReason | undefined {
  if (MINIFIED.test(file)) return 'minified';
  return LOCK_FILES.has(path.posix.basename(file)) ? 'generated' : undefined;
}
