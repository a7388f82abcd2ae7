/** code.no.unwrap: outside of tests a missing value is handled, not assumed away. */
import { defineRule, type RuleDefinition } from '@tool-runtime/sdk';
import { checkPlaces } from '../inspect/check-places.ts';
import type { UseServices } from '../plugin/code-services.ts';

export const codeNoUnwrap = (use: UseServices): RuleDefinition =>
  defineRule({
    id: 'code.no.unwrap',
    category: 'Safety',
    description:
      'No unchecked unwrapping outside tests: .unwrap() in Rust, the non-null ! in TypeScript, and their like',
    phase: 'on-commit',
    trigger: 'on commit',
    defaultEnforcement: 'warning',
    needs: ['ast'],
    byContent: true,
    appliesTo: ({ git }) => git !== undefined,
    check: checkPlaces(use, {
      rule: 'code.no.unwrap',
      kind: 'unwraps',
      problem: () => 'Unchecked unwrap',
      next: 'handle the missing value',
    }),
  });
