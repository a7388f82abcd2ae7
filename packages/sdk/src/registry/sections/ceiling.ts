/**
 * The ceiling: tools, capabilities, side-effect level, arguments and depth that nothing may exceed.
 *
 * Five keys make one policy, which is intersected as a whole. A side-effect level that is not written is the lowest one
 * under which the rest of the file makes sense.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import { SIDE_EFFECT_LEVELS, sideEffectRank } from '../../contracts/annotations.ts';
import type { CapabilityPolicy, ToolArgConstraint } from '../../contracts/registry.ts';
import { narrowPolicies } from '../../policy/intersect-policy.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { examplesOf } from '../policy-examples.ts';
import { defineSection } from '../section.ts';
import { exampleList, globText, nameText, toolGlob } from '../texts.ts';

const argConstraint = z.strictObject({
  tool: toolGlob.describe('Tool name or glob'),
  arg_patterns: z.array(globText).describe('Globs; the argument must match at least one'),
  arg_key: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Argument that is constrained; left out: every path argument, and every file the tool writes'),
  allow: exampleList.exactOptional().describe('Calls that must not be refused; checked at load'),
  deny: exampleList.exactOptional().describe('Calls that must be refused; checked at load'),
});

const keys = {
  allowed_tools: z.array(toolGlob).exactOptional().describe('Ceiling: only these tools; left out: all, []: none'),
  capabilities: z
    .record(nameText, z.array(nameText))
    .exactOptional()
    .describe('Ceiling: capability → operations; left out: all'),
  side_effect_level: z
    .enum(SIDE_EFFECT_LEVELS)
    .exactOptional()
    .describe('Ceiling; left out: what the rest of the file needs'),
  arg_constraints: z
    .array(argConstraint)
    .exactOptional()
    .describe('Ceiling: globs that arguments must match; a path must match as written and by where links lead'),
  recursion_limit: z.int().min(0).max(1000).exactOptional().describe('Ceiling: depth of child sessions'),
};

export const ceiling = defineSection({
  keys,
  build: ({ allowed_tools, capabilities, side_effect_level, arg_constraints, recursion_limit }, { neededLevel }) => {
    const policy: CapabilityPolicy = {
      ...(allowed_tools === undefined ? {} : { tools: allowed_tools }),
      ...(capabilities === undefined ? {} : { capabilities }),
      side_effect_level: side_effect_level ?? neededLevel,
      ...(recursion_limit === undefined ? {} : { recursion_limit }),
      ...(arg_constraints === undefined ? {} : { tool_arg_constraints: arg_constraints.map(withoutExamples) }),
    };
    return { ceiling: policy };
  },
  toolNames: [
    'allowed_tools.*',
    'arg_constraints.*.tool',
    'arg_constraints.*.allow.*.tool',
    'arg_constraints.*.deny.*.tool',
  ],
  examples: ({ arg_constraints = [] }) =>
    arg_constraints.flatMap((entry, index) => examplesOf(`arg_constraints.${index}`, entry)),
  meaning: ({ arg_constraints, ...others }) => ({
    ...Object.fromEntries(Object.entries(others).filter(([key]) => Object.hasOwn(keys, key))),
    ...(arg_constraints === undefined ? {} : { arg_constraints: arg_constraints.map(withoutExamples) }),
  }),
  narrow: (narrowing) => ({ ceiling: narrowCeiling(narrowing) }),
});

function withoutExamples({
  allow: _allow,
  deny: _deny,
  ...constraint
}: z.output<typeof argConstraint>): ToolArgConstraint {
  return constraint;
}

/** Field of the policy → key of the registry, where they differ. */
const KEYS: Readonly<Record<string, string>> = {
  tools: 'allowed_tools',
  tool_arg_constraints: 'arg_constraints',
};

function narrowCeiling(narrowing: Narrowing): CapabilityPolicy {
  const { policy, overreach } = narrowPolicies(narrowing.host.ceiling, requestedCeiling(narrowing));
  for (const asked of overreach) {
    const [field = ''] = asked.split(':');
    const path = KEYS[field] ?? field;
    narrowing.overreach.push({ path, message: `Ceiling is above the host's: ${safeText(asked, 80)}` });
  }
  return policy;
}

/** A level that is not written follows from the rest of the file, whose overreach is reported already: it is lowered silently. */
function requestedCeiling({ host, session }: Narrowing): CapabilityPolicy {
  const [given, own] = [host.ceiling.side_effect_level, session.ceiling.side_effect_level];
  if (given === undefined || own === undefined || isWritten(session, 'side_effect_level')) return session.ceiling;
  return sideEffectRank(own) > sideEffectRank(given)
    ? { ...session.ceiling, side_effect_level: given }
    : session.ceiling;
}
