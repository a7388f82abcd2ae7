/**
 * What was detected → the text of a `tool-runtime.yaml`, with comments for whoever edits it.
 *
 * Safe by default: no host may be contacted, nothing may be pushed, and the only commands are those that were found.
 */
import type { DetectedProject } from './detected-project.ts';

export interface RenderRegistryOptions {
  /** Where editors find the JSON Schema: a path or an address. */
  readonly schemaRef: string;
  /** Whether the runtime that will read the file has a parser. Default: true. */
  readonly parser?: boolean;
}

const STEPS = ['build', 'test', 'lint', 'fmt'] as const;
const EXAMPLES: Readonly<Record<(typeof STEPS)[number], string>> = {
  build: 'make build',
  test: 'make test',
  lint: 'make lint',
  fmt: 'prettier --check .',
};

/** Throws TypeError when `schemaRef` is not one plain line. */
export function renderRegistry(detected: DetectedProject, options: RenderRegistryOptions): string {
  if (options.schemaRef === '' || /[\s\p{C}]/u.test(options.schemaRef)) {
    throw new TypeError('schemaRef is not one plain word');
  }
  return [
    heading(detected, options.schemaRef),
    'version: 1',
    NETWORK,
    shellSection(detected),
    gitSection(detected),
    commandSection(detected),
    testSection(detected),
    validatorSection(detected, options.parser ?? true),
    ISOLATION,
  ]
    .map((section) => `${section}\n`)
    .join('\n');
}

function heading({ languages, packageManager, git }: DetectedProject, schemaRef: string): string {
  const found = [
    ...languages,
    ...(packageManager === undefined ? [] : [packageManager]),
    ...(git === undefined ? [] : ['git']),
  ];
  return `# yaml-language-server: $schema=${schemaRef}
#
# What tools may do in this workspace. Written by \`tool-runtime init\`; from here on it is yours.
# Found: ${found.length === 0 ? 'nothing that is known' : found.join(', ')}
# It can only narrow the safe defaults until you have read it and said so: tool-runtime trust`;
}

const NETWORK = `# Hosts that tools and commands may contact. Empty: no network at all.
# Example: ['docs.example.org', '*.example.com', 'localhost:8080']
network:
  allowed_domains: []`;

const ISOLATION = `# The sandbox around commands. \`none\` turns it off.
isolation: bubblewrap`;

function shellSection({ shellAllow }: DetectedProject): string {
  const intro = `# Command lines that may run. A pattern is matched from its ^ on; end it with $ so that nothing can follow.
# No shell is started: commands joined by &&, ||, ; or | are checked one by one.`;
  if (shellAllow.length === 0) return `${intro}\n# Example: ['^make test$']\nshell_allow: []`;
  return [intro, 'shell_allow:', ...shellAllow.map((pattern) => `  - ${quoted(pattern)}`)].join('\n');
}

function gitSection({ git }: DetectedProject): string {
  const branches = git?.defaultBranch === undefined ? ['main', 'master'] : [git.defaultBranch];
  return `git:
  allow_push: false
  # Refuse commits while tracked files have unstaged changes.
  require_clean_tree_for_commit: true

# Branches on which stricter rules hold; names or globs.
protected_branches: ${quotedList(branches)}`;
}

function commandSection({ commands }: DetectedProject): string {
  const lines = STEPS.map((step) => {
    const command = commands[step];
    return command === undefined ? `  # ${step}: ${quoted(EXAMPLES[step])}` : `  ${step}: ${quoted(command)}`;
  });
  const isEmpty = STEPS.every((step) => commands[step] === undefined);
  return [
    '# What the rules below run, from the workspace root. `fmt` must only check, never rewrite.',
    '# A step that was not found is commented out: fill it in, then switch its rule on.',
    isEmpty ? 'commands: {}' : 'commands:',
    ...lines,
  ].join('\n');
}

function testSection({ testGlobs }: DetectedProject): string {
  const intro = '# Which files are tests.';
  if (testGlobs.length === 0) return `${intro} Example: ['tests/**']\ntest_globs: []`;
  return [intro, 'test_globs:', ...testGlobs.map((glob) => `  - ${quoted(glob)}`)].join('\n');
}

function validatorSection(detected: DetectedProject, parser: boolean): string {
  const sections = listedRules(detected, { parser }).map(({ title, rules }) =>
    [`  # ${title}`, ...rules.map(ruleEntry)].join('\n'),
  );
  const intro = `# Rules and their levels: blocking refuses, warning is reported, suggestion is only mentioned.
# tool-runtime explain RULE says more about each.`;
  return [intro, 'validators:', sections.join('\n\n')].join('\n');
}

function ruleEntry({ rule, enforcement, missing }: ListedRule): string {
  if (missing === undefined) return `  - rule: ${rule}\n    enforcement: ${enforcement}`;
  return `  # - rule: ${rule} # ${missing}\n  #   enforcement: ${enforcement}`;
}

/** Single quotes: in YAML they know no escapes, so patterns stay as they are. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}

interface ListedRule {
  readonly rule: string;
  readonly enforcement: 'blocking' | 'warning' | 'suggestion';
  /** Why the line stands commented out; undefined: it is in force. */
  readonly missing?: string;
}

interface RuleSection {
  readonly title: string;
  readonly rules: readonly ListedRule[];
}

interface ListOptions {
  /** Whether the runtime has a parser. Without one code.ast.parsed refuses every change of source code. */
  readonly parser: boolean;
}

/** Which rules a fresh registry lists, at what level, and what must be there first. */
function listedRules({ commands, testGlobs }: DetectedProject, { parser }: ListOptions): readonly RuleSection[] {
  const needs = (isThere: boolean, missing: string) => (isThere ? {} : { missing });
  const step = (name: 'build' | 'lint' | 'fmt') => needs(commands[name] !== undefined, `needs commands.${name}`);
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
