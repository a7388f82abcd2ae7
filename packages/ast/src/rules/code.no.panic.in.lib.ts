/** code.no.panic.in.lib: a library leaves it to its caller whether the program ends. */
import { defineRule, type RuleDefinition } from '@tool-runtime/sdk';
import { checkPlaces } from '../inspect/check-places.ts';
import type { UseServices } from '../plugin/code-services.ts';

export const codeNoPanicInLib = (use: UseServices): RuleDefinition =>
  defineRule({
    id: 'code.no.panic.in.lib',
    category: 'Safety',
    description:
      'Library code does not end the program: panic! and todo! in Rust, process.exit in TypeScript, and their like',
    phase: 'on-commit',
    trigger: 'on commit',
    defaultEnforcement: 'warning',
    needs: ['ast'],
    byContent: true,
    appliesTo: ({ git }) => git !== undefined,
    check: checkPlaces(use, {
      rule: 'code.no.panic.in.lib',
      kind: 'panics',
      problem: () => 'Library code ends the program',
      next: 'return an error that the caller can handle',
    }),
  });
