/** `branch_pattern`: what names of new branches must match. Where both sides have one, a name must match both. */
import type { CompiledPattern } from '../../contracts/registry.ts';
import { compilePattern } from '../../pattern/compile-pattern.ts';
import { bothMatch, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { patternText } from '../texts.ts';

export const branchPattern = defineSection({
  keys: { branch_pattern: patternText.exactOptional().describe('What names of new branches must match') },
  build: ({ branch_pattern: source }) => ofPattern(source === undefined ? undefined : compilePattern(source)),
  narrow: (narrowing) => ofPattern(narrowBranchPattern(narrowing)),
});

function ofPattern(pattern: CompiledPattern | undefined): { readonly branchPattern?: CompiledPattern } {
  return pattern === undefined ? {} : { branchPattern: pattern };
}

function narrowBranchPattern({ host, session }: Narrowing): CompiledPattern | undefined {
  if (session.branchPattern === undefined) return host.branchPattern;
  return host.branchPattern === undefined
    ? session.branchPattern
    : bothMatch(session.branchPattern, [host.branchPattern]);
}
