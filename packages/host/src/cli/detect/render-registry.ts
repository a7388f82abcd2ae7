/**
 * What was detected → the text of a `tool-runtime.yaml`, with comments for its editor.
 *
 * Safe by default: no host may be contacted and nothing may be pushed. What commands may do depends on the profile.
 */
import type { DetectedProject, ProjectCommands } from './detected-project.ts';

/** Who the registry is for. */
export const PROFILES = ['agent', 'ci', 'reader'] as const;
export type Profile = (typeof PROFILES)[number];

export interface RenderRegistryOptions {
  /** Where editors find the JSON Schema: a path or an address. */
  readonly schemaRef: string;
  /** Whether the runtime that will read the file has a parser. Default: true. */
  readonly parser?: boolean;
  /** Default: ci. */
  readonly profile?: Profile;
  /** Toolchains of this machine, and their folders. */
  readonly toolchains?: readonly { readonly name: string; readonly folders: readonly string[] }[];
  /** Steps that were found, but whose program was not. */
  readonly missing?: MissingSteps;
}

export type MissingSteps = { readonly [Step in keyof ProjectCommands]?: MissingStep };

export interface MissingStep {
  readonly command: string;
  readonly program: string;
}

const STEPS = ['build', 'test', 'lint', 'fmt'] as const;

/** Throws TypeError when `schemaRef` is not one plain line. */
export function renderRegistry(detected: DetectedProject, options: RenderRegistryOptions): string {
  const { schemaRef, profile = 'ci', parser = true, toolchains = [], missing = {} } = options;
  if (schemaRef === '' || /[\s\p{C}]/u.test(schemaRef)) throw new TypeError('schemaRef is not one plain word');
  const top = [heading(detected, schemaRef), 'version: 1'];
  const sections =
    profile === 'reader'
      ? [...top, READER]
      : [
          ...top,
          NETWORK,
          profile === 'agent' ? AGENT_SHELL : shellSection(detected),
          sandboxSection(toolchains),
          gitSection(detected),
          commandSection(detected, missing),
          testSection(detected),
          validatorSection(listedRules(detected, { parser, missing })),
          ISOLATION,
        ];
  return sections.map((section) => `${section}\n`).join('\n');
}

const READER = `# Files, code and git history can be read; nothing can be changed or run.
side_effect_level: read_only`;

const AGENT_SHELL = `# Any command line runs, by bash inside the sandbox: no network, nothing outside the workspace, .git read-only.
# To forbid a program all the same: shell_deny: ['^rm ']
shell:
  mode: sandboxed`;

function sandboxSection(toolchains: NonNullable<RenderRegistryOptions['toolchains']>): string {
  const intro = `# Toolchains of the home folder that commands see, read-only. Without this list: all that are found.`;
  const found = toolchains.map(({ name, folders }) => `#   ${name}: ${folders.join(', ')}`);
  if (found.length === 0) return `${intro}\n# None was found here.\nsandbox: {}`;
  return [intro, ...found, 'sandbox:', `  toolchains: [${toolchains.map(({ name }) => name).join(', ')}]`].join('\n');
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
  # To refuse commits while tracked files have unstaged changes: require_clean_tree_for_commit: true

# Branches on which stricter rules hold; names or globs.
protected_branches: ${quotedList(branches)}`;
}

function commandSection({ commands }: DetectedProject, missing: MissingSteps): string {
  const lines = STEPS.map((step) => {
    const command = commands[step];
    if (command !== undefined) return `  ${step}: ${quoted(command)}`;
    const found = missing[step];
    return found === undefined
      ? `  # ${step}: ''`
      : `  # ${step}: ${quoted(found.command)} # ${found.program} was not found inside the sandbox`;
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

function validatorSection(rules: readonly RuleSection[]): string {
  const sections = rules.map(({ title, rules: listed }) => [`  # ${title}`, ...listed.map(ruleEntry)].join('\n'));
  const intro = `# Rules and their levels: blocking refuses, warning is reported, suggestion is only mentioned.
# tool-runtime explain RULE says more about each.`;
  return [intro, 'validators:', sections.join('\n\n')].join('\n');
}

function ruleEntry({ rule, enforcement, missing }: RuleSection['rules'][number]): string {
  if (missing === undefined) return `  - rule: ${rule}\n    enforcement: ${enforcement}`;
  return `  # - rule: ${rule} # ${missing}\n  #   enforcement: ${enforcement}`;
}

/** Single quotes: in YAML they have no escapes, so patterns stay as they are. */
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
  readonly missing: MissingSteps;
}

/** Which rules a fresh registry lists, at what level, and what must be there first. */
function listedRules(
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
