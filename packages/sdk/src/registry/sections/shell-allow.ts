/** `shell_allow`: patterns of the command lines that may run. */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { CompiledPattern, Registry } from '../../contracts/registry.ts';
import { allowlistPatternProblem, compileAllowlistPattern } from '../../pattern/compile-pattern.ts';
import { bothMatch, type Narrowing, placeEntry } from '../narrowing.ts';
import { examplesOf } from '../policy-examples.ts';
import { defineSection } from '../section.ts';
import { exampleList, shellPatternText } from '../texts.ts';

const withExamples = z
  .strictObject({
    pattern: shellPatternText.describe('Pattern, anchored with ^'),
    match: z.array(z.string()).default([]).describe('Command lines it must allow; checked at load'),
    not_match: z.array(z.string()).default([]).describe('Command lines it must not allow; checked at load'),
    allow: exampleList.exactOptional().describe('Calls that must not be refused; checked at load'),
    deny: exampleList.exactOptional().describe('Calls that must be refused; checked at load'),
  })
  .superRefine((entry, context) => {
    for (const { path, message } of examplesProblem(entry)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  });

/** The second argument says what is expected, for the message when no form fits. */
const shellEntry = z.union(
  [shellPatternText.describe('Pattern, anchored with ^'), withExamples],
  'a pattern, or a map with pattern',
);

type ShellEntry = z.output<typeof shellEntry>;

export const shellAllow = defineSection({
  keys: {
    shell_allow: z
      .array(shellEntry)
      .default([])
      .describe('Patterns of allowed commands. Left out: none in strict mode, any in sandboxed mode'),
  },
  build: ({ shell_allow: entries }) => ({
    shellAllow: entries.map((entry) => compileAllowlistPattern(patternOf(entry))) as readonly CompiledPattern[],
  }),
  narrow: (narrowing) => ({ shellAllow: narrowShell(narrowing) }),
  toolNames: ['shell_allow.*.allow.*.tool', 'shell_allow.*.deny.*.tool'],
  examples: ({ shell_allow: entries }) =>
    entries.flatMap((entry, index) => (typeof entry === 'string' ? [] : examplesOf(`shell_allow.${index}`, entry))),
  lists: { shell_allow: ({ shell_allow: entries }) => entries.map(patternOf) },
  // Examples are no part of what is allowed.
  meaning: ({ shell_allow: entries }) => ({ shell_allow: entries.map(withoutExamples) }),
  needs: ({ shell_allow: entries }) => (entries.length > 0 ? 'process_exec' : undefined),
});

function withoutExamples(entry: ShellEntry) {
  if (typeof entry === 'string') return entry;
  const { allow: _allow, deny: _deny, ...others } = entry;
  return others;
}

function patternOf(entry: ShellEntry): string {
  return typeof entry === 'string' ? entry : entry.pattern;
}

interface ExampleProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Examples that contradict their pattern. A pattern that is itself invalid has its own problem. */
function examplesProblem(entry: Exclude<ShellEntry, string>): readonly ExampleProblem[] {
  if (allowlistPatternProblem(entry.pattern) !== undefined) return [];
  const pattern = compileAllowlistPattern(entry.pattern);
  return (['match', 'not_match'] as const).flatMap((key) =>
    entry[key].flatMap((example, index) => {
      if (pattern.test(example) === (key === 'match')) return [];
      const verb = key === 'match' ? 'does not allow its example' : 'allows what it must not';
      return [{ path: [key, index], message: `Pattern ${verb}: ${safeText(example, 80)}` }];
    }),
  );
}

/**
 * A command must match a pattern of each side. Which of two patterns is wider cannot be decided, so only "none"
 * overreaches. In sandboxed mode a side without patterns allows any program.
 */
function narrowShell(narrowing: Narrowing): readonly CompiledPattern[] {
  const { host, session } = narrowing;
  const hostAllowsAll = host.shell.mode === 'sandboxed' && host.shellAllow.length === 0;
  if (hostAllowsAll) return placed(narrowing, session);
  const isSandboxed = host.shell.mode === 'sandboxed' && session.shell.mode === 'sandboxed';
  if (isSandboxed && session.shellAllow.length === 0) return placed(narrowing, host);
  const kept: CompiledPattern[] = [];
  for (const [index, { source, test }] of session.shellAllow.entries()) {
    const path = `shell_allow.${index}`;
    if (host.shellAllow.length === 0) {
      narrowing.overreach.push({ path, message: `Shell is not allowed by the host: ${safeText(source, 80)}` });
      continue;
    }
    placeEntry(narrowing, 'shell_allow', { index: kept.length, name: source, spot: session.spot(path) });
    kept.push(bothMatch({ source, test }, host.shellAllow));
  }
  return kept;
}

/** The patterns of one side, with their lines. */
function placed(narrowing: Narrowing, side: Registry): readonly CompiledPattern[] {
  for (const [index, { source: name }] of side.shellAllow.entries()) {
    placeEntry(narrowing, 'shell_allow', { index, name, spot: side.spot(`shell_allow.${index}`) });
  }
  return side.shellAllow;
}
