/** `shell_deny` and `shell_ask`: patterns of commands that never run, and of those that need an approval. */
import { z } from 'zod';
import type { CompiledPattern } from '../../contracts/registry.ts';
import { compilePattern } from '../../pattern/compile-pattern.ts';
import { type Narrowing, placeEntry } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { patternText } from '../texts.ts';

const patterns = z.array(patternText.describe('Pattern; matches anywhere in the command unless anchored')).default([]);

export const shellLists = defineSection({
  keys: {
    shell_deny: patterns.describe('Patterns of commands that never run; they win over shell_ask and shell_allow'),
    shell_ask: patterns.describe('Patterns of commands that need an approval'),
  },
  build: (written) => ({
    shellDeny: written.shell_deny.map(compilePattern) as readonly CompiledPattern[],
    shellAsk: written.shell_ask.map(compilePattern) as readonly CompiledPattern[],
  }),
  narrow: (narrowing) => ({
    shellDeny: joined(narrowing, 'shell_deny', 'shellDeny'),
    shellAsk: joined(narrowing, 'shell_ask', 'shellAsk'),
  }),
  lists: {
    shell_deny: (written) => written.shell_deny,
    shell_ask: (written) => written.shell_ask,
  },
});

/** What either side lists holds. */
function joined(narrowing: Narrowing, list: string, field: 'shellDeny' | 'shellAsk'): readonly CompiledPattern[] {
  const kept: CompiledPattern[] = [];
  for (const side of [narrowing.host, narrowing.session]) {
    for (const [index, pattern] of side[field].entries()) {
      if (kept.some(({ source }) => source === pattern.source)) continue;
      const spot = side.spot(`${list}.${index}`);
      placeEntry(narrowing, list, { index: kept.length, name: pattern.source, spot });
      kept.push(pattern);
    }
  }
  return kept;
}
