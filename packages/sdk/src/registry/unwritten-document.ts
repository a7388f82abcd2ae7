/** What a registry says in which nothing is written: the default of every key. Bundles have it ready-made. */
import { type RegistryDocument, registryDocument } from './document.ts';

/** A new one each time. */
export function unwrittenDocument(): RegistryDocument {
  return registryDocument.parse({});
}
