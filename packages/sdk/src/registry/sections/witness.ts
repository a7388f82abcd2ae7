/** `witness`: places outside of the state folder that are told how far the journal is. */
import { z } from 'zod';
import type { WitnessSettings } from '../../contracts/registry.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const place = z.union([
  z.strictObject({
    file: z
      .string()
      .max(4096)
      .regex(/^\//, 'must be an absolute path')
      .describe('Absolute path of a file outside of workspace and state folder'),
  }),
  z.strictObject({
    git_ref: z
      .string()
      .max(200)
      .regex(
        /^refs\/(?:[A-Za-z0-9][A-Za-z0-9_-]*\/)+[A-Za-z0-9][A-Za-z0-9_-]*$/,
        'must be a full name such as refs/heads/witness',
      )
      .describe('Full name of a ref in the repository of the workspace; each head becomes a commit of it'),
  }),
  z.strictObject({
    url: z
      .string()
      .max(2000)
      .regex(/^https?:\/\/[^\s]+$/, 'must be an address that begins with https:// or http://')
      .refine(URL.canParse, 'must be an address')
      .describe('Takes each head as a line by POST and answers GET with all lines it took'),
  }),
]);

export const witness = defineSection({
  keys: {
    witness: z
      .array(place)
      .max(8)
      .default([])
      .describe(
        'Where the newest head of the journal is noted every ten minutes and at the end; audit verify reads it',
      ),
  },
  build: (written) => ({ witness: written.witness as readonly WitnessSettings[] }),
  narrow: (narrowing) => ({ witness: narrowWitness(narrowing) }),
});

/** The journal belongs to the operator, and so does what watches it. */
function narrowWitness({ host, session, overreach }: Narrowing): readonly WitnessSettings[] {
  const isOther = JSON.stringify(session.witness) !== JSON.stringify(host.witness);
  if (isOther && isWritten(session, 'witness')) {
    overreach.push({ path: 'witness', message: 'Witnesses are named by the host: witness' });
  }
  return host.witness;
}
