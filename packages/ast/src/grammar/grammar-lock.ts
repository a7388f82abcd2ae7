/** The list of vendored grammars and their digests: what the loader may load, written by scripts/vendor-grammars.ts. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const lockSchema = z.record(
  z.string(),
  z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    bytes: z.number().int().positive(),
    abi: z.number().int(),
    package: z.string(),
    version: z.string(),
    file: z.string(),
    license: z.string(),
  }),
);

export type GrammarLock = z.infer<typeof lockSchema>;

/** `folder` is a directory URL that ends in a slash. */
export function readGrammarLock(folder: URL): GrammarLock {
  return lockSchema.parse(JSON.parse(readFileSync(new URL('lock.json', folder), 'utf8')));
}
