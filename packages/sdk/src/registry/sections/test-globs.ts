/** `test_globs`: which files are tests. */
import { z } from 'zod';
import type { Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { globText } from '../texts.ts';

export const testGlobs = defineSection({
  keys: { test_globs: z.array(globText).default([]).describe('Which files are tests') },
  build: ({ test_globs: globs }) => ({ testGlobs: globs as readonly string[] }),
  narrow: (narrowing) => ({ testGlobs: narrowTestGlobs(narrowing) }),
});

/** Wider test globs let more changes count as tested, so the host decides wherever it sets rules. */
function narrowTestGlobs({ host, session, overreach }: Narrowing): readonly string[] {
  if (host.testGlobs.length === 0 && host.validators.size === 0) return session.testGlobs;
  const added = session.testGlobs.filter((glob) => !host.testGlobs.includes(glob));
  if (added.length > 0) overreach.push({ path: 'test_globs', message: "Test globs are not the host's" });
  return host.testGlobs;
}
