/** code.fn.docs.exported: what other files can call says what it does. */
import { defineRule, type RuleDefinition } from '@tool-runtime/sdk';
import { checkPlaces } from '../inspect/check-places.ts';
import type { UseServices } from '../plugin/code-services.ts';

export const codeFnDocsExported = (use: UseServices): RuleDefinition =>
  defineRule({
    id: 'code.fn.docs.exported',
    category: 'Docs',
    description: 'Exported functions and methods of changed files are documented',
    phase: 'on-commit',
    trigger: 'on commit',
    defaultEnforcement: 'blocking',
    needs: ['ast'],
    byContent: true,
    appliesTo: ({ git }) => git !== undefined,
    check: checkPlaces(use, {
      rule: 'code.fn.docs.exported',
      kind: 'undocumented',
      problem: ({ docLabel }) => `Missing ${docLabel}`,
      next: 'say what it does',
      details: ({ id }) => ({ node_id: id }),
    }),
  });
