import { createRequire } from 'node:module';

/** The version of this package, which is the version of all packages. */
export function hostVersion(): string {
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
  return version;
}
