/** Which rules a fresh registry lists, at what level, and what must be there first. */
import type { DetectedProject } from './detected-project.ts';
import type { MissingSteps } from './render-registry.ts';

interface ListedRule {
  readonly rule: string;
  readonly enforcement: 'blocking' | 'warning' | 'suggestion';
  /** Why the line stands commented out; undefined: it is in force. */
  readonly missing?: string;
}

export interface RuleSection {
  readonly title: string;
  readonly rules: readonly ListedRule[];
}

interface ListOptions {
  /** Whether the runtime has a parser. Without one code.ast.parsed refuses every change of source code. */
  readonly parser: boolean;
  readonly missing: MissingSteps;
}

export function listedRules(
  { commands, testGlobs }: DetectedProject,
  { parser, missing: absent }: ListOptions,
): readonly RuleSection[] {
  const needs = (isThere: boolean, missing: string) => (isThere ? {} : { missing });
  const step = (name: 'build' | 'lint' | 'fmt') =>
    needs(commands[name] !== undefined, `needs ${absent[name]?.program ?? `commands.${name}`}`);
  const parsing = needs(parser, 'needs a parser in the runtime');
  return [
    {
      title: 'Always in force; listed so that everyone sees them.',
      rules: [
        { rule: 'sec.paths.sandbox', enforcement: 'blocking' },
        { rule: 'sec.shell.allowlist', enforcement: 'blocking' },
        { rule: 'sec.network.allowlist', enforcement: 'blocking' },
        { rule: 'sec.git.clean_tree', enforcement: 'blocking' },
      ],
    },
    {
      title: 'What must hold before a commit.',
      rules: [
        { rule: 'secrets.scan', enforcement: 'blocking' },
        { rule: 'build.must.pass', enforcement: 'blocking', ...step('build') },
        { rule: 'lint.must.pass', enforcement: 'blocking', ...step('lint') },
        { rule: 'fmt.must.pass', enforcement: 'blocking', ...step('fmt') },
        { rule: 'test.required.changed', enforcement: 'warning', ...needs(testGlobs.length > 0, 'needs test_globs') },
        { rule: 'code.todo.blockers', enforcement: 'warning' },
        { rule: 'commit.message.conventional', enforcement: 'suggestion' },
      ],
    },
    {
      title: 'What must hold in the code.',
      rules: [
        { rule: 'code.ast.parsed', enforcement: 'blocking', ...parsing },
        { rule: 'code.fn.docs.exported', enforcement: 'suggestion', ...parsing },
        { rule: 'code.no.panic.in.lib', enforcement: 'warning', ...parsing },
        { rule: 'code.no.unwrap', enforcement: 'warning', ...parsing },
        { rule: 'code.mod.import.rules', enforcement: 'blocking', missing: 'needs import_rules' },
        { rule: 'branch.naming.convention', enforcement: 'warning', missing: 'needs branch_pattern' },
      ],
    },
  ];
}
