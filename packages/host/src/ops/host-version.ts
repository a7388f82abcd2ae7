/** This package, found by its name: the code may run as source or from one of two bundles. */
import { readFileSync } from 'node:fs';

export function inPackage(name: string): URL {
  return new URL(name, import.meta.resolve('@tool-runtime/host/package.json'));
}

/** The version of this package, which is the version of all packages. */
export function hostVersion(): string {
  return (JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { readonly version: string }).version;
}
