/** A file of this package, found by the name of the package: the code may run as source or from one of several bundles. */
import { readFileSync } from 'node:fs';

export function inPackage(name: string): URL {
  return new URL(name, import.meta.resolve('@tool-runtime/sdk/package.json'));
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { readonly version: string }).version;
}
