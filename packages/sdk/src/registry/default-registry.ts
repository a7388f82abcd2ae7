/**
 * The registry that holds when none is written: files inside the workspace and local git verbs; no shell, no network, no push,
 * commands in the sandbox. Every value is the document's own default, so `version: 1` and no file mean the same.
 */
import type { Registry } from '../contracts/registry.ts';
import { buildRegistry } from './build-registry.ts';
import { registryDocument } from './document.ts';

export function defaultRegistry(): Registry {
  return buildRegistry(registryDocument.parse({ version: 1 }), {
    file: '',
    places: new Map(),
    rules: new Map(),
    warnings: [],
  });
}
