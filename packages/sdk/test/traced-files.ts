/**
 * Which of our source files run while something happens, and which of them import which.
 *
 * V8 counts calls of functions ("precise coverage"), so the result depends on what ran and never on how long it took.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = resolve(import.meta.dirname, '../..');

export interface TracedPath {
  /** Relative to `packages`, sorted. */
  readonly files: readonly string[];
  /** `from -> to`: a file that ran imports a value of another that ran. */
  readonly hops: readonly string[];
}

/** `work` must be warm: modules that load while it runs would count as run. */
export async function traceFiles(work: () => Promise<unknown>): Promise<TracedPath> {
  const inspector = new Session();
  inspector.connect();
  try {
    await inspector.post('Profiler.enable');
    await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await inspector.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await inspector.post('Profiler.takePreciseCoverage');
    const ran = result.filter(({ url, functions }) => isOurs(url) && functions.some(hasRun));
    const files = ran.map(({ url }) => relative(PACKAGES, fileURLToPath(url))).toSorted();
    return { files, hops: hopsBetween(files) };
  } finally {
    inspector.disconnect();
  }
}

function isOurs(url: string): boolean {
  return url.startsWith(`file://${PACKAGES}/`) && /^file:.*\/src\/.*\.ts$/.test(url) && !url.endsWith('.test.ts');
}

function hasRun({ ranges }: { readonly ranges: readonly { readonly count: number }[] }): boolean {
  return ranges.some(({ count }) => count > 0);
}

const IMPORT = /^import (?!type\b)(?:\{([^}]*)\}|\S+) from '([^']+)';/gms;

function hopsBetween(files: readonly string[]): string[] {
  const ran = new Set(files);
  return files.flatMap((file) => {
    const source = readFileSync(resolve(PACKAGES, file), 'utf8');
    const imported = [...source.matchAll(IMPORT)].flatMap(([, names = 'all', target = '']) => {
      const isValue = names.split(',').some((name) => name.trim() !== '' && !name.trim().startsWith('type '));
      return isValue && target.startsWith('.') ? [relative(PACKAGES, resolve(PACKAGES, dirname(file), target))] : [];
    });
    return imported.filter((target) => ran.has(target)).map((target) => `${file} -> ${target}`);
  });
}
