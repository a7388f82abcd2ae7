/** code.mod.import.rules: the boundaries between parts of a project, as the registry's `import_rules` draw them. */
import { defineRule, type RuleDefinition } from '@tool-runtime/sdk';
import type { UseServices } from '../plugin/code-services.ts';

export const codeModImportRules = (use: UseServices): RuleDefinition =>
  defineRule({
    id: 'code.mod.import.rules',
    category: 'Architecture',
    description: 'Imports of changed files respect the boundaries of import_rules',
    phase: 'on-commit',
    trigger: 'on commit',
    defaultEnforcement: 'blocking',
    needs: ['ast'],
    // Not by content: what an import leads to depends on files that are not among the changes.
    appliesTo: ({ git }) => git !== undefined,
    async check(_subject, context) {
      if (context.registry.importRules.length === 0) return [];
      const [{ compileImportRules }, { judgeImports }] = await Promise.all([
        import('./imports/import-rule.ts'),
        import('./imports/judge-imports.ts'),
      ]);
      const boundaries = compileImportRules(context.registry);
      return judgeImports({ rule: 'code.mod.import.rules', boundaries }, use, context);
    },
  });
