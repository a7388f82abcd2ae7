import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { Registry } from '../contracts/registry.ts';
import type { RuleFacts } from '../contracts/rule.ts';
import { PACKAGE_CACHES } from '../contracts/sandbox-names.ts';
import { loadRegistry } from './load-registry.ts';

function fixture(name: string): string {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
}

const facts = JSON.parse(fixture('rules.json')) as RuleFacts[];
const rules = new Map(facts.map((rule) => [rule.id, rule]));

function load(text: string, tools?: readonly string[]): Registry {
  return loadRegistry(text, { file: 'tool-runtime.yaml', rules, tools: tools && new Set(tools), engines: new Set() });
}

function refusal(text: string, tools?: readonly string[]): ToolError {
  try {
    load(text, tools);
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(thrown.code, 'E_VALIDATION_FAIL');
    return thrown;
  }
  assert.fail(`loaded: ${text}`);
}

/** `line:column message` of every problem, in order. */
function problemsOf(text: string, tools?: readonly string[]): readonly string[] {
  const problems = refusal(text, tools).details['problems'] as { line: number; column: number; message: string }[];
  return problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

function warningsOf(registry: Registry): readonly string[] {
  return registry.warnings.map(({ message, details }) => `${details?.['registry']} ${message}`);
}

describe('the examples of the format', () => {
  const shell = ['^cargo(\\s|$)', '^npm(\\s|$)', '^rg(\\s|$)'];

  test('the full example loads as written, its invalid escapes named line by line [S0-24]', () => {
    const registry = load(fixture('full-example.yaml'));
    const escapes = registry.warnings.filter(({ message }) => message.startsWith('Invalid escape'));
    assert.deepEqual(
      escapes.map(({ details }) => details?.['registry']),
      ['tool-runtime.yaml:7', 'tool-runtime.yaml:8', 'tool-runtime.yaml:9'],
    );
    assert.deepEqual(
      registry.shellAllow.map(({ source }) => source),
      shell,
    );
    assert.equal(registry.shellAllow[0]?.test('cargo test -q'), true);
    assert.equal(registry.shellAllow[0]?.test('cargos'), false);
    assert.deepEqual(registry.allowedDomains, ['doc.rust-lang.org', 'crates.io']);
    assert.deepEqual(registry.git, {
      allow_push: true,
      allow_force_push: false,
      require_clean_tree_for_commit: true,
      signing: 'off',
      hooks: 'off',
      signoff: false,
      allow_config: [],
      credentials: {},
    });
    const ast = { language: 'rust', format_on_save: true, validate_on_edit: true, diagnostics_wait_ms: 400 };
    assert.deepEqual(registry.ast, ast);
    assert.equal(registry.validators.size, 9);
    assert.deepEqual(registry.validators.get('code.todo.blockers'), {
      rule: 'code.todo.blockers',
      enforcement: 'blocking',
    });
    assert.equal(registry.ceiling.side_effect_level, 'network');
  });

  test('the rule pack loads and says that it has no version and no commands [S0-24]', () => {
    const registry = load(fixture('rule-pack.yaml'));
    assert.equal(registry.validators.size, 9);
    assert.deepEqual(warningsOf(registry), [
      'tool-runtime.yaml:1 Version is missing: read as version: 1',
      'tool-runtime.yaml:12 Rule has no command and will refuse: build.must.pass (set commands.build)',
      'tool-runtime.yaml:14 Rule has no command and will refuse: lint.must.pass (set commands.lint)',
      'tool-runtime.yaml:16 Rule has no command and will refuse: fmt.must.pass (set commands.fmt)',
    ]);
  });

  test('the full example in single quotes means the same and has no escape warning [S0-24]', () => {
    const text = fixture('full-example-single-quoted.yaml');
    const registry = load(text);
    assert.equal(registry.fingerprint, load(fixture('full-example.yaml')).fingerprint);
    assert.equal(registry.warnings.length, 3);
    const complete = load(
      `${text}commands: {build: cargo build, lint: cargo clippy, fmt.must.pass: cargo fmt --check}\n`,
    );
    assert.deepEqual(complete.warnings, []);
  });
});

describe('a registry that loads', () => {
  test('leaves everything safe that it does not mention [S0-17 S0-18 S0-19 S0-20]', () => {
    const registry = load('version: 1\n');
    const { spot, fingerprint, validators, tools, mcpServers, ...plain } = registry;
    assert.match(fingerprint, /^sha256:[0-9a-f]{64}$/);
    assert.equal(spot('shell_allow'), undefined);
    assert.deepEqual([validators.size, tools.size, mcpServers.size], [0, 0, 0]);
    assert.deepEqual(
      {
        ...plain,
        commands: { ...plain.commands },
        providers: { ...plain.providers },
        toolProfiles: { ...plain.toolProfiles },
      },
      {
        version: 1,
        sources: [{ text: 'version: 1\n', file: plain.sources[0]?.file }],
        warnings: [],
        allowedDomains: [],
        insecureCredentials: [],
        shell: { mode: 'strict', unseen: 'allow' },
        shellAllow: [],
        shellDeny: [],
        shellAsk: [],
        git: {
          allow_push: false,
          allow_force_push: false,
          require_clean_tree_for_commit: false,
          signing: 'off',
          hooks: 'off',
          signoff: false,
          allow_config: [],
          credentials: {},
        },
        ast: { format_on_save: false, validate_on_edit: false, diagnostics_wait_ms: 400 },
        commands: {},
        protectedBranches: ['main', 'master'],
        testGlobs: [],
        importRules: [],
        secrets: { allow: [] },
        ask: 'command_line',
        effects: 'direct',
        ceiling: { side_effect_level: 'workspace_write' },
        sandbox: { read_only: [], path: [], caches: Object.keys(PACKAGE_CACHES), env: [] },
        isolation: 'bubblewrap',
        durability: 'normal',
        changes: {
          record: true,
          days: 30,
          max_file_mib: 16,
          max_mib: 512,
          tx_minutes: 60,
          tx_checks: ['build', 'test'],
        },
        retention: {
          records_days: 90,
          records_max: 5_000_000,
          archives_days: 365,
          answers_days: 30,
          runs_days: 90,
          caches_days: 30,
          caches_max_mib: 5120,
        },
        witness: [],
        sealedArgs: { keep: true, days: 30, max_kib: 64 },
        examples: [],
        externalTools: [],
        toolProfiles: {},
        providers: {},
        limits: {
          max_in_flight: 32,
          lock_wait_ms: 10_000,
          max_request_bytes: 8_388_608,
          approval_timeout_ms: 120_000,
          max_jobs: 16,
          max_workspace_jobs: 64,
          max_answer_tokens: 25_000,
          max_kept_jobs: 0,
        },
        budgets: {},
        coordinator: { required: [], timeout_ms: 2000, share_args: false },
        children: { max_children: 16, allow_detach: false },
        edits: { inexact: 'allow' },
      },
    );
  });

  test('reads every section', () => {
    const registry = load(fixture('every-section.yaml'), ['grep', 'file_read', 'fs_delete', 'git_push']);
    assert.deepEqual(registry.warnings, []);
    assert.deepEqual(registry.allowedDomains, ['crates.io', '*.example.org', 'localhost:8080']);
    assert.deepEqual(registry.tools.get('grep'), { enabled: true, timeout_ms: 5000, max_timeout_ms: 20_000 });
    assert.deepEqual(registry.tools.get('file_read'), { enabled: false });
    assert.deepEqual(registry.ceiling, {
      tools: ['fs_*', 'file_read'],
      capabilities: { workspace: ['read_text'], process: [] },
      side_effect_level: 'process_exec',
      recursion_limit: 2,
      tool_arg_constraints: [{ tool: 'file_*', arg_patterns: ['src/**'], arg_key: 'path' }],
    });
    assert.deepEqual(registry.approvals, {
      auto_approve: ['file_read'],
      auto_deny: ['git_push'],
      require_approval: ['fs_delete'],
      write_path_allowlist: ['src/**'],
    });
    assert.equal(registry.isolation, 'none');
    assert.equal(registry.branchPattern?.test('feat/x'), true);
    assert.equal(registry.branchPattern?.test('x'), false);
    assert.deepEqual(registry.limits.lock_wait_ms, 0);
    assert.deepEqual(registry.budgets, { max_calls: 100 });
    assert.deepEqual(registry.coordinator, { required: ['plan', 'policy'], timeout_ms: 500, share_args: true });
    assert.deepEqual(registry.children, { max_children: 3, allow_detach: true });
    assert.deepEqual(
      registry.externalTools.map(({ name, command, side_effect_level }) => [name, command, side_effect_level]),
      [['scanner', 'scan', 'process_exec']],
    );
    assert.deepEqual(registry.providers['rust-analyzer'], { command: ['rust-analyzer'] });
    assert.equal(registry.commands['constructor'], undefined);
  });

  test('unset and empty lists of a ceiling differ', () => {
    assert.equal('tools' in load('version: 1\n').ceiling, false);
    assert.deepEqual(load('version: 1\nallowed_tools: []\n').ceiling.tools, []);
    assert.equal(load('version: 1\n').approvals, undefined);
    assert.deepEqual(load('version: 1\napprovals: {auto_approve: []}\n').approvals, { auto_approve: [] });
    assert.deepEqual(load('version: 1\nprotected_branches: []\n').protectedBranches, []);
  });

  const levels: [string, string][] = [
    ['network: {allowed_domains: [crates.io]}', 'network'],
    ['git: {allow_push: true}', 'network'],
    ['shell_allow: [^ls]', 'process_exec'],
    ['commands: {build: make}', 'process_exec'],
    ['external_tools: [{name: x}]', 'process_exec'],
    ['external_tools: [{name: x, command: a, side_effect_level: read_only}]', 'workspace_write'],
    ['external_tools: [{name: x, command: a, side_effect_level: network}]', 'network'],
    ['providers: {x: {}}', 'process_exec'],
    ['git: {allow_push: false}', 'workspace_write'],
    ['shell_allow: [^ls]\nside_effect_level: read_only', 'read_only'],
  ];
  for (const [text, level] of levels) {
    test(`has the ceiling ${level} with ${text.replace('\n', ' and ')}`, () => {
      assert.equal(load(`version: 1\n${text}\n`).ceiling.side_effect_level, level);
    });
  }

  test('gives a rule without a level its own [S0-22]', () => {
    const registry = load('version: 1\nvalidators: [{rule: code.no.unwrap}, {rule: secrets.scan}]\n');
    assert.equal(registry.validators.get('code.no.unwrap')?.enforcement, 'warning');
    assert.equal(registry.validators.get('secrets.scan')?.enforcement, 'blocking');
    const written = load(
      'version: 1\nvalidators: [{enforcement: warning, rule: code.no.unwrap}, {rule: secrets.scan}]\n',
    );
    assert.equal(written.fingerprint, registry.fingerprint);
  });

  test('has a fingerprint that follows the meaning and not the spelling', () => {
    const one = load('version: 1\ngit: {allow_push: true}\nshell_allow: []\n').fingerprint;
    assert.equal(
      load('# note\ngit:\n  require_clean_tree_for_commit: false\n  allow_push: true\nversion: 1\n').fingerprint,
      one,
    );
    assert.notEqual(load('version: 1\ngit: {allow_push: false}\n').fingerprint, one);
  });

  test('a section on children that says what holds anyway leaves the fingerprint as it was [S3-28]', () => {
    const plain = load('version: 1\n').fingerprint;
    assert.equal(load('version: 1\nchildren: {max_children: 16, allow_detach: false}\n').fingerprint, plain);
    assert.notEqual(load('version: 1\nchildren: {max_children: 17}\n').fingerprint, plain);
  });

  test('a coordinator section that says what holds anyway leaves the fingerprint as it was [S0-75]', () => {
    const plain = load('version: 1\n').fingerprint;
    assert.equal(load('version: 1\ncoordinator: {}\n').fingerprint, plain);
    assert.equal(load('version: 1\ncoordinator: {timeout_ms: 2000, required: []}\n').fingerprint, plain);
    const all = load('version: 1\ncoordinator: {required: true}\n');
    assert.deepEqual(all.coordinator.required, ['plan', 'budget', 'policy']);
    assert.notEqual(all.fingerprint, plain);
    assert.equal(load('version: 1\ncoordinator: {required: [policy, budget, plan]}\n').fingerprint, all.fingerprint);
    assert.equal(load('version: 1\ncoordinator: {required: [policy, policy]}\n').coordinator.required.length, 1);
  });

  test('a required question is found by its name, in a list and as true [S0-75]', () => {
    const at = (text: string): string | undefined => {
      const spot = load(text).spot('coordinator.required.policy');
      return spot && `${spot.line}:${spot.column}`;
    };
    assert.equal(at('version: 1\ncoordinator:\n  required:\n    - plan\n    - policy\n'), '5:7');
    assert.equal(at('version: 1\ncoordinator:\n  required: true\n'), '3:3');
  });

  test('knows the line of what is written, by index, by name and by nearest parent', () => {
    const registry = load(fixture('full-example.yaml'));
    const at = (path: string): string | undefined => {
      const spot = registry.spot(path);
      return spot && `${spot.file}:${spot.line}:${spot.column}`;
    };
    assert.equal(at('validators.3.enforcement'), 'tool-runtime.yaml:28:5');
    assert.equal(at('validators.code.ast.parsed'), 'tool-runtime.yaml:27:5');
    assert.equal(at('validators.code.ast.parsed.enforcement'), 'tool-runtime.yaml:27:5');
    assert.equal(at('shell_allow.1'), 'tool-runtime.yaml:8:5');
    assert.equal(at('shell_allow.^npm(\\s|$)'), 'tool-runtime.yaml:8:5');
    assert.equal(at('network.allowed_domains.crates.io'), 'tool-runtime.yaml:4:42');
    assert.equal(at('git.no_such_key'), 'tool-runtime.yaml:11:1');
    assert.equal(at('commands.build'), undefined);
  });

  test('cannot be changed, its maps included [S0-23]', () => {
    const registry = load(fixture('full-example.yaml'));
    assert.throws(() => (registry.validators as Map<string, unknown>).delete('sec.paths.sandbox'), TypeError);
    assert.throws(() => (registry.tools as Map<string, unknown>).set('x', {}), TypeError);
    assert.throws(() => (registry.allowedDomains as string[]).push('evil.test'), TypeError);
    assert.throws(() => Object.assign(registry.git, { allow_push: false }), TypeError);
    assert.throws(() => Object.assign(registry, { isolation: 'none' }), TypeError);
    assert.throws(() => Object.assign(registry.commands, { build: 'x' }), TypeError);
    assert.throws(
      () => Object.assign(registry.validators.get('secrets.scan') ?? {}, { enforcement: 'warning' }),
      TypeError,
    );
  });

  test('checks the examples beside a pattern [S0-19]', () => {
    const entry = '{pattern: ^npm, match: [npm test], not_match: [pnpm]}';
    assert.equal(load(`version: 1\nshell_allow: [${entry}]\n`).shellAllow[0]?.test('npm test'), true);
    const lines = [
      'version: 1',
      'shell_allow:',
      '  - pattern: ^npm',
      '    match: [npm, yarn]',
      '    not_match:',
      '      - npm publish',
    ];
    assert.deepEqual(problemsOf(lines.join('\n')), [
      '4:18 Pattern does not allow its example: yarn',
      '6:9 Pattern allows what it must not: npm publish',
    ]);
  });

  test('an unused command is named with the one that was meant', () => {
    assert.deepEqual(warningsOf(load('version: 1\ncommands:\n  biuld: make\n')), [
      'tool-runtime.yaml:3 No rule or step uses this command: biuld (did you mean build?)',
    ]);
  });
});

describe('a registry that is refused', () => {
  const rows: [string, string, readonly string[]][] = [
    ['another version [S0-17]', 'version: 2', ['1:1 Unsupported version: 2 (this runtime reads version 1)']],
    ['a version in quotes [S0-17]', "version: '1'", ['1:1 Unsupported version: "1" (this runtime reads version 1)']],
    [
      'unknown top-level keys [S0-25]',
      'shel_allow: []\nother: 1',
      ['1:1 Unknown key: shel_allow (did you mean shell_allow?)', '2:1 Unknown key: other'],
    ],
    [
      'unknown keys further down [S0-25]',
      'git: {allow_psuh: true}\ntools:\n  grep: {enable: true}\nvalidators:\n  - rule: secrets.scan\n    level: blocking',
      [
        '1:7 Unknown key: allow_psuh (did you mean allow_push?)',
        '3:10 Unknown key: enable (did you mean enabled?)',
        '6:5 Unknown key: level',
      ],
    ],
    [
      'questions nobody asks, and answers that take no time [S0-75]',
      'coordinator:\n  required: [policy, polcy]\n  timeout_ms: 0\n  url: http://evil.test',
      [
        '2:22 Unknown value: coordinator.required.1 polcy (one of plan, budget, policy) (did you mean policy?)',
        '3:3 Value is too small: coordinator.timeout_ms (at least 1)',
        '4:3 Unknown key: url',
      ],
    ],
    [
      'a word where a list of questions should be [S0-75]',
      'coordinator: {required: policy}',
      ['1:15 Wrong type: coordinator.required (expected true, or a list of plan, budget and policy, got text)'],
    ],
    [
      'unknown keys beside a pattern [S0-25]',
      'shell_allow:\n  - pattern: ^a\n    matches: [a]',
      ['3:5 Unknown key: matches (did you mean match?)'],
    ],
    [
      'a bad pattern [S0-19]',
      'shell_allow:\n  - ^ok\n  - ^(bad',
      ['3:5 Bad pattern: ^(bad (missing closing ): `^(bad`)'],
    ],
    [
      'a pattern without anchor [S0-19]',
      'shell_allow: [npm]',
      ['1:15 Pattern is not anchored with ^: npm (write ^npm)'],
    ],
    [
      'a backspace meant as a word end [S0-19]',
      'shell_allow: ["^npm\\b"]',
      [
        '1:15 Pattern holds a control character: ^npm\\u{8} (double quotes turn \\b and \\t into one; use single quotes)',
      ],
    ],
    [
      'an unknown rule [S0-22]',
      'validators:\n  - rule: sec.path.sandbox\n    enforcement: blocking',
      ['2:5 Unknown rule: sec.path.sandbox (did you mean sec.paths.sandbox?)'],
    ],
    [
      'a rule listed twice [S0-22]',
      'validators:\n  - {rule: secrets.scan, enforcement: blocking}\n  - {rule: secrets.scan, enforcement: warning}',
      ['3:6 Rule is listed twice: secrets.scan'],
    ],
    [
      'an unknown level [S0-22]',
      'validators:\n  - rule: secrets.scan\n    enforcement: bloking',
      [
        '3:5 Unknown value: validators.0.enforcement bloking (one of blocking, warning, suggestion) (did you mean blocking?)',
      ],
    ],
    [
      'a weakened security rule [S0-22]',
      'validators:\n  - rule: sec.paths.sandbox\n    enforcement: warning',
      ['3:5 Security rule cannot be weakened: sec.paths.sandbox (write enforcement: blocking)'],
    ],
    [
      'a domain with a scheme [S0-18]',
      'network:\n  allowed_domains:\n    - https://crates.io',
      ['3:7 Domain has a scheme: https://crates.io (write the host alone)'],
    ],
    [
      'wrong types',
      'shell_allow: ^npm\nnetwork: []\ngit: {allow_push: "yes"}\nlimits: {max_in_flight: 1.5}\nprotected_branches: [1]',
      [
        '1:1 Wrong type: shell_allow (expected a list, got text)',
        '2:1 Wrong type: network (expected a map, got a list)',
        '3:7 Wrong type: git.allow_push (expected true or false, got text)',
        '4:10 Wrong type: limits.max_in_flight (expected a whole number, got a number)',
        '5:22 Wrong type: protected_branches.0 (expected text, got a number)',
      ],
    ],
    [
      'nothing behind a key',
      'shell_allow:\nside_effect_level:',
      [
        '1:1 Value is missing: shell_allow (expected a list; leave the key out to leave it unset)',
        '2:1 Value is missing: side_effect_level (expected none, read_only, workspace_write, process_exec, network; leave the key out to leave it unset)',
      ],
    ],
    [
      'a list entry that is neither pattern nor map',
      'shell_allow: [1]',
      ['1:15 Wrong type: shell_allow.0 (expected a pattern, or a map with pattern, got a number)'],
    ],
    [
      'a missing key',
      'shell_allow: [{match: [a]}]\nvalidators: [{enforcement: blocking}]',
      [
        '1:15 Missing key: shell_allow.0.pattern (expected text)',
        '2:14 Missing key: validators.0.rule (expected text)',
      ],
    ],
    [
      'figures out of range',
      'limits: {max_in_flight: 0}\nrecursion_limit: 5000',
      [
        '1:10 Value is too small: limits.max_in_flight (at least 1)',
        '2:1 Value is too large: recursion_limit (at most 1000)',
      ],
    ],
    [
      'a time limit above its own maximum',
      'tools:\n  grep: {timeout_ms: 10, max_timeout_ms: 5}',
      ['2:10 Time limit is above max_timeout_ms'],
    ],
    [
      'an exception that is no hash',
      'secrets: {allow: ["abc", "sk-live"]}',
      [
        '1:19 Not a hash: write 40 or 64 hex digits in lower case',
        '1:26 Not a hash: write 40 or 64 hex digits in lower case',
      ],
    ],
    ['a command of two lines', 'commands: {build: "a\\nb"}', ['1:12 Command is not one plain line: a\\nb']],
    [
      'an unknown level of side effects',
      'side_effect_level: networks',
      [
        '1:1 Unknown value: side_effect_level networks (one of none, read_only, workspace_write, process_exec, network) (did you mean network?)',
      ],
    ],
    ['a bad glob', 'test_globs: ["[a"]', ['1:14 Pattern is not a valid glob: "[a" (a character class is not closed)']],
    ['a bad name', 'commands: {"a b": make}', ['1:12 Not a plain name: a b']],
    [
      'an external tool listed twice',
      'external_tools: [{name: a}, {name: a}]',
      ['1:30 External tool is listed twice: a'],
    ],
    ['a list', '- version: 1', ['1:1 Wrong type: registry (expected a map, got a list)']],
    ['plain text', 'hello', ['1:1 Wrong type: registry (expected a map, got text)']],
    ['an empty text', '# nothing\n', ['1:1 Registry is empty: write version: 1 first']],
    ['a tag, without a second problem at its place', 'shell_allow: [!x ^a]', ['1:18 Tags are not allowed: !x']],
  ];
  for (const [name, text, expected] of rows) {
    test(`${name}`, () => assert.deepEqual(problemsOf(text), expected));
  }

  test('a tool name is checked where the tools are known', () => {
    const text = 'version: 1\nexternal_tools: [{name: scanner}]\ntools:\n  scanner: {}\n  gerp: {enabled: false}\n';
    assert.deepEqual(problemsOf(text, ['grep']), ['5:3 Unknown tool: gerp (did you mean grep?)']);
    assert.equal(load(text).tools.size, 2);
    assert.deepEqual(load(text.replace('gerp', 'grep'), ['grep']).warnings, []);
  });

  test('names problems of every kind at once, in the order of the file', () => {
    const lines = [
      'version: 3',
      'network: {allowed_domains: ["a/b"]}',
      'shell_allow: ["^ok", "(", npm]',
      'validators:',
      '  - {rule: nope, enforcement: blocking}',
      '  - {rule: sec.paths.sandbox, enforcement: suggestion}',
      'version: 1',
      'test_globs: ["!x"]',
      'unknown: true',
    ];
    const error = refusal(lines.join('\n'));
    const problems = error.details['problems'] as { line: number; path: string }[];
    assert.deepEqual(
      problems.map(({ line, path }) => `${line} ${path}`),
      [
        '2 network.allowed_domains.0',
        '3 shell_allow.1',
        '3 shell_allow.2',
        '5 validators.0.rule',
        '6 validators.1.enforcement',
        '7 version',
        '8 test_globs.0',
        '9 unknown',
      ],
    );
    assert.equal(error.details['problem_count'], 8);
    assert.match(error.message, /^Registry refused: tool-runtime\.yaml:2:29 Domain has a path: a\/b .*; and 3 more$/);
    assert.equal(error.details['registry'], 'tool-runtime.yaml:2');
  });

  test('throws nothing but a ToolError for any text (deep)', () => {
    const key = fc.constantFrom(
      'version',
      'shell_allow',
      'validators',
      'git',
      'network',
      'tools',
      'approvals',
      'limits',
      'providers',
      '__proto__',
      'x',
    );
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(1, 2, '^a', '(', null, [], {}, ['^a', 1]));
    const shaped = fc.dictionary(key, value).map((object) => JSON.stringify(object));
    const damaged = fc
      .tuple(fc.constant(fixture('full-example.yaml')), fc.nat({ max: 900 }), fc.string({ maxLength: 4 }))
      .map(([text, at, insert]) => text.slice(0, at) + insert + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), shaped, damaged), (text) => {
        try {
          load(text);
        } catch (thrown) {
          assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL', String(thrown));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
