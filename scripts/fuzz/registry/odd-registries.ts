/** Registry texts that mostly load: sections of small vocabularies, so that a host's and a session's meet often. */
import fc from 'fast-check';

const optional = { requiredKeys: [] };
const figure = fc.integer({ min: 1, max: 5 });
const level = fc.constantFrom('none', 'read_only', 'workspace_write', 'process_exec', 'network');
const domain = fc.constantFrom(
  'a.test',
  '*.a.test',
  'x.a.test',
  '*.x.a.test',
  'b.test:80',
  'b.test',
  '.test',
  '127.0.0.1',
  '[::1]:81',
  'A.Test.',
);
const glob = fc.constantFrom(
  '*',
  'file_*',
  'file_read',
  '{grep,fs_*}',
  'srv_*',
  'src/**',
  '**',
  '[a-f]*',
  'other',
  './src/*',
);
const globs = fc.array(glob, { maxLength: 3 });
const pattern = fc.constantFrom('^npm', '^npm test$', '^(a|b)', '^a$', '^', '^cargo(\\s|$)', '^[a-z]+ .*');
const hash = fc.constantFrom('a'.repeat(40), 'b'.repeat(64));

const server = fc.record(
  {
    command: fc.constantFrom(['x'], ['y', '-v']),
    tools: globs,
    prefix: fc.constantFrom('srv', 'p'),
    side_effect_level: level,
    timeout_ms: figure,
  },
  optional,
);

const sections = fc.record(
  {
    version: fc.constant(1),
    network: fc.record({ allowed_domains: fc.array(domain, { maxLength: 3 }) }),
    shell: fc.record(
      { mode: fc.constantFrom('strict', 'sandboxed'), unseen: fc.constantFrom('allow', 'ask', 'deny') },
      optional,
    ),
    shell_deny: fc.array(pattern, { maxLength: 2 }),
    shell_ask: fc.array(pattern, { maxLength: 2 }),
    shell_allow: fc.array(fc.oneof(pattern, fc.record({ pattern, match: fc.constantFrom([], ['npm']) })), {
      maxLength: 3,
    }),
    git: fc.record(
      {
        allow_push: fc.boolean(),
        allow_force_push: fc.boolean(),
        require_clean_tree_for_commit: fc.boolean(),
        signing: fc.constantFrom('off', 'agent'),
        hooks: fc.constantFrom('off', 'sandboxed'),
        allow_config: fc.subarray(['filter.lfs.*', 'core.hooksPath', 'filter.*']),
        credentials: fc.constantFrom({}, { 'example.org': 'TOKEN' }, { constructor: 'TOKEN' }),
      },
      optional,
    ),
    ast: fc.record({ language: fc.constantFrom('rust', 'go'), format_on_save: fc.boolean() }, optional),
    validators: fc.uniqueArray(
      fc.record(
        {
          rule: fc.constantFrom('secrets.scan', 'code.no.unwrap', 'build.must.pass', 'test.required.changed'),
          enforcement: fc.constantFrom('blocking', 'warning', 'suggestion'),
        },
        { requiredKeys: ['rule'] },
      ),
      { selector: ({ rule }) => rule },
    ),
    commands: fc.dictionary(fc.constantFrom('build', 'lint', 'constructor'), fc.constantFrom('make', 'npm x'), {
      maxKeys: 2,
    }),
    protected_branches: fc.array(fc.constantFrom('main', 'release/*', '*'), { maxLength: 2 }),
    test_globs: globs,
    branch_pattern: fc.constantFrom('^feat/', 'name$', '^'),
    secrets: fc.record({ allow: fc.array(hash, { maxLength: 2 }) }),
    tools: fc.dictionary(
      fc.constantFrom('grep', 'other', 'file_read', 'constructor'),
      fc.record({ enabled: fc.boolean(), timeout_ms: figure, max_timeout_ms: fc.constant(5) }, optional),
      { maxKeys: 2 },
    ),
    allowed_tools: globs,
    capabilities: fc.dictionary(
      fc.constantFrom('workspace', 'process', 'toString'),
      fc.subarray(['read_text', 'run']),
      { maxKeys: 2 },
    ),
    side_effect_level: level,
    arg_constraints: fc.array(fc.record({ tool: glob, arg_patterns: globs, arg_key: fc.constantFrom('path', 'url') }), {
      maxLength: 2,
    }),
    recursion_limit: figure,
    approvals: fc.record(
      { auto_approve: globs, auto_deny: globs, require_approval: globs, write_path_allowlist: globs },
      optional,
    ),
    isolation: fc.constantFrom('bubblewrap', 'none'),
    external_tools: fc.uniqueArray(
      fc.record({ name: fc.constantFrom('a', 'b'), command: fc.constantFrom('x', 'y') }, { requiredKeys: ['name'] }),
      { selector: ({ name }) => name, maxLength: 2 },
    ),
    mcp_servers: fc.dictionary(fc.constantFrom('srv', 'two'), server, { maxKeys: 2 }),
    limits: fc.record({ max_in_flight: figure, lock_wait_ms: figure, approval_timeout_ms: figure }, optional),
    budgets: fc.record({ max_calls: figure, max_bytes: figure }, optional),
    children: fc.record({ max_children: figure, allow_detach: fc.boolean() }, optional),
    coordinator: fc.record(
      {
        required: fc.oneof(fc.constant(true), fc.subarray(['plan', 'budget', 'policy'])),
        timeout_ms: figure,
        share_args: fc.boolean(),
      },
      optional,
    ),
    providers: fc.dictionary(fc.constantFrom('p', 'q'), fc.constantFrom({ command: ['x'] }, 1, null), { maxKeys: 2 }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** One line of YAML a section, because JSON is YAML, or in blocks as people write it. */
export const writtenRegistry: fc.Arbitrary<string> = fc
  .tuple(sections, fc.boolean(), fc.subarray(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'], { minLength: 3 }))
  .map(([all, isBlock, kept]) =>
    Object.entries(all)
      .filter((_, index) => kept.includes('abcdefghij'.charAt(index % 10)))
      .map(([key, value]) => `${key}: ${isBlock ? block(value, '  ') : JSON.stringify(value)}\n`)
      .join(''),
  );

function block(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return JSON.stringify(value);
  return entries
    .map(([key, inner]) => {
      const head = Array.isArray(value) ? '-' : `${JSON.stringify(key)}:`;
      return `\n${indent}${head} ${block(inner, `${indent}  `)}`;
    })
    .join('');
}
