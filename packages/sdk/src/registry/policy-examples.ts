/** Examples of calls, as sections list them: those of one entry, or of the registry as a whole. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { z } from 'zod';
import type { PolicyExample } from '../contracts/registry.ts';
import type { exampleList } from './texts.ts';

type Written = z.output<typeof exampleList>;

/** `anyOf`: the decisions that fulfil them. */
export function examplesAt(
  path: string,
  written: Written | undefined,
  expected: PolicyExample['expected'],
  anyOf: PolicyExample['anyOf'],
): readonly PolicyExample[] {
  return (written ?? []).map(({ tool, args }, index) => ({
    path: `${path}.${index}`,
    tool,
    // Parsed YAML is JSON.
    args: args as JsonObject,
    expected,
    anyOf,
  }));
}

interface WithExamples {
  readonly allow?: Written;
  readonly deny?: Written;
}

/** Of an entry of a list: what it allows may still be asked about by others. `rule` is the rule the entry is about. */
export function examplesOf(path: string, { allow, deny }: WithExamples, rule?: string): readonly PolicyExample[] {
  const about = rule === undefined ? {} : { rule };
  return [
    ...examplesAt(`${path}.allow`, allow, 'allow', ['allow', 'ask']),
    ...examplesAt(`${path}.deny`, deny, 'deny', ['deny']),
  ].map((example) => ({ ...example, ...about }));
}
