/** `protected_branches`: branches that rules protect. A session can add to the host's. */
import { z } from 'zod';
import { defineSection } from '../section.ts';
import { globText } from '../texts.ts';

export const protectedBranches = defineSection({
  keys: {
    protected_branches: z
      .array(globText)
      .default(['main', 'master'])
      .describe('Branches that rules protect; names or globs'),
  },
  build: ({ protected_branches: globs }) => ({ protectedBranches: globs as readonly string[] }),
  narrow: ({ host, session }) => ({
    protectedBranches: [...new Set([...host.protectedBranches, ...session.protectedBranches])],
  }),
});
