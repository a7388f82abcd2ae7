import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { sideEffectRank } from '../contracts/annotations.ts';
import { ENFORCEMENTS } from '../contracts/classes.ts';
import type { Registry } from '../contracts/registry.ts';
import type { RuleFacts } from '../contracts/rule.ts';
import { hostAllowed } from '../egress/domain-entry.ts';
import { compileGlobs } from '../glob/match-glob.ts';
import { defaultRegistry } from './build-registry.ts';
import { loadRegistry } from './load-registry.ts';
import { narrowRegistry } from './narrow-registry.ts';

const facts = JSON.parse(readFileSync(new URL('fixtures/rules.json', import.meta.url), 'utf8')) as RuleFacts[];
const rules = new Map(facts.map((rule) => [rule.id, rule]));
/** From the strictest on. */
const UNSEEN = ['deny', 'ask', 'allow'] as const;
const toolTimeouts = new Map([['grep', 10_000]]);

function load(file: string, text: string): Registry {
  return loadRegistry(`version: 1\n${text}\n`, { file, rules, tools: undefined, engines: new Set() });
}

function narrow(hostText: string, sessionText: string): Registry {
  const options = { overreach: 'error', toolTimeouts } as const;
  return narrowRegistry(load('host.yaml', hostText), load('session.yaml', sessionText), options);
}

function trim(hostText: string, sessionText: string): Registry {
  const options = { overreach: 'warn', toolTimeouts } as const;
  return narrowRegistry(load('host.yaml', hostText), load('session.yaml', sessionText), options);
}

function refusal(hostText: string, sessionText: string): ToolError {
  try {
    narrow(hostText, sessionText);
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_POLICY', String(thrown));
    return thrown;
  }
  assert.fail(`allowed: ${sessionText}`);
}

/** What the thrown error and, when trimming, the warnings say must be the same. */
function overreachOf(hostText: string, sessionText: string): readonly string[] {
  const thrown = refusal(hostText, sessionText).details['overreach'] as { registry: string; message: string }[];
  const listed = thrown.map(({ registry, message }) => `${registry} ${message}`);
  const warned = trim(hostText, sessionText).warnings.filter(
    ({ details }) => details?.['reason'] === 'registry_overreach',
  );
  assert.deepEqual(
    warned.map(({ message, details }) => `${details?.['registry']} ${message}`),
    listed,
  );
  return listed;
}

describe('what a session may not ask for', () => {
  const rows: [string, string, string, readonly string[]][] = [
    [
      'a domain',
      'network: {allowed_domains: [a.test]}',
      'network: {allowed_domains: [a.test, b.test]}',
      ['session.yaml:2 Domain is not allowed by the host: b.test'],
    ],
    [
      'sandboxed commands',
      'shell: {mode: strict, unseen: deny}',
      'shell:\n  mode: sandboxed\n  unseen: allow',
      [
        'session.yaml:3 Command mode is strict at the host: sandboxed',
        'session.yaml:4 Parts that cannot be seen: the host says deny',
      ],
    ],
    ['shell', 'git: {}', "shell_allow: ['^ls']", ['session.yaml:2 Shell is not allowed by the host: ^ls']],
    [
      'push and a dirty tree',
      'git: {require_clean_tree_for_commit: true}',
      'git:\n  allow_push: true\n  require_clean_tree_for_commit: false',
      ['session.yaml:3 Push is not allowed by the host', 'session.yaml:4 Clean tree is required by the host'],
    ],
    [
      'signatures and hooks',
      'git: {}',
      'git:\n  signing: agent\n  hooks: sandboxed',
      ['session.yaml:3 Signing is not allowed by the host', 'session.yaml:4 Hooks are off at the host'],
    ],
    ['no hooks', 'git: {hooks: sandboxed}', 'git:\n  hooks: off', ['session.yaml:3 Hooks are sandboxed at the host']],
    [
      'a weaker rule',
      'validators: [{rule: secrets.scan, enforcement: blocking}]',
      'validators:\n  - rule: secrets.scan\n    enforcement: warning',
      ['session.yaml:3 Rule is blocking at the host: secrets.scan'],
    ],
    [
      'a command of its own',
      'commands: {build: make}',
      'commands:\n  build: make\n  test: make test',
      ["session.yaml:4 Command is not one of the host's: test"],
    ],
    [
      'no isolation',
      'git: {}',
      'isolation: none',
      ['session.yaml:2 Isolation cannot be switched off: the host requires it'],
    ],
    [
      'no witness',
      'witness: [{file: /var/w}]',
      'witness: []',
      ['session.yaml:2 Witnesses are named by the host: witness'],
    ],
    [
      'no sealed arguments',
      'sealed_args: {keep: true}',
      'sealed_args: {keep: false}',
      ['session.yaml:2 Sealed arguments are set by the host: sealed_args.keep is true'],
    ],
    [
      'to forget sooner',
      'retention: {archives_days: 100}',
      'retention: {archives_days: 1}',
      ['session.yaml:2 Retention is set by the host: retention.archives_days is 100'],
    ],
    [
      'no change sets',
      'changes: {record: true}',
      'changes: {record: false}',
      ['session.yaml:2 Change sets are set by the host: changes.record is true'],
    ],
    [
      'less durability',
      'durability: full',
      'durability: normal',
      ['session.yaml:2 Durability cannot be lowered: the host requires full'],
    ],
    [
      'a tool that is off',
      'tools: {grep: {enabled: false}}',
      'tools: {grep: {enabled: true}}',
      ['session.yaml:2 Tool is switched off by the host: grep'],
    ],
    [
      'more time than the host gives',
      'tools: {grep: {timeout_ms: 50}}',
      'tools: {grep: {timeout_ms: 60}}',
      ["session.yaml:2 Limit is above the host's: tools.grep.timeout_ms (at most 50)"],
    ],
    [
      'more time than the tool takes itself',
      'git: {}',
      'tools: {grep: {max_timeout_ms: 10001}}',
      ["session.yaml:2 Limit is above the host's: tools.grep.max_timeout_ms (at most 10000)"],
    ],
    [
      'time for a tool nobody can compare',
      'git: {}',
      'tools: {other: {timeout_ms: 1}}',
      ["session.yaml:2 Limit is above the host's: tools.other.timeout_ms (it sets none to compare with)"],
    ],
    [
      'children',
      'children: {max_children: 4}',
      'children: {max_children: 5, allow_detach: true}',
      [
        "session.yaml:2 Limit is above the host's: children.max_children (at most 4)",
        'session.yaml:2 Detached children are not allowed by the host',
      ],
    ],
    [
      'higher limits and budgets',
      'limits: {max_in_flight: 4}\nbudgets: {max_calls: 10}',
      'limits: {max_in_flight: 5}\nbudgets: {max_calls: 11}',
      [
        "session.yaml:2 Limit is above the host's: limits.max_in_flight (at most 4)",
        "session.yaml:3 Limit is above the host's: budgets.max_calls (at most 10)",
      ],
    ],
    [
      'a higher ceiling',
      'allowed_tools: ["fs_*"]\nside_effect_level: read_only',
      'side_effect_level: network\nallowed_tools: [grep]',
      [
        "session.yaml:2 Ceiling is above the host's: side_effect_level: network",
        "session.yaml:3 Ceiling is above the host's: tools: grep",
      ],
    ],
    [
      'an external tool or provider that differs',
      'external_tools: [{name: a, command: x}]\nproviders: {p: {memory_mb: 65}}',
      'external_tools: [{name: a, command: y}]\nproviders: {p: {memory_mb: 66}}',
      [
        "session.yaml:2 External tool is not one of the host's: a",
        "session.yaml:3 Provider is not one of the host's: p",
      ],
    ],
    [
      'other test globs beside the host rules',
      'validators: [{rule: test.required.changed}]',
      'test_globs: ["**"]',
      ["session.yaml:2 Test globs are not the host's"],
    ],
    [
      'an exception of the secrets scan that is not the host’s',
      `secrets: {allow: ["${'a'.repeat(40)}"]}`,
      `secrets: {allow: ["${'a'.repeat(40)}", "${'b'.repeat(64)}"]}`,
      ['session.yaml:2 Exceptions of the secrets scan are not those of the host'],
    ],
  ];
  rows.push([
    'to show the coordinator more',
    'coordinator: {required: true}',
    'coordinator:\n  share_args: true',
    ['session.yaml:3 Arguments are not shared by the host'],
  ]);
  for (const [name, host, session, expected] of rows) {
    test(`${name} [S0-23]`, () => assert.deepEqual(overreachOf(host, session), expected));
  }

  test('is listed in one error with the first line and what to do [S0-23]', () => {
    const error = refusal('git: {}', 'isolation: none\ngit: {allow_push: true}');
    assert.match(
      error.message,
      /^Registry asks for more than the host allows: session\.yaml:2 Isol.*; session\.yaml:3 Push /,
    );
    assert.equal(error.details['registry'], 'session.yaml:2');
    assert.equal(typeof error.details['next'], 'string');
  });
});

describe('a session that asks for very much [S0-23]', () => {
  const names = Array.from({ length: 600 }, (_, index) => `a${index}.test`);

  test('is refused in a short message that says how much there is', () => {
    const domains = `network: {allowed_domains: [${names.join(', ')}]}`;
    const { message, details } = refusal('git: {}', domains);
    assert.match(message, /a4\.test; and 595 more$/);
    assert.equal(details['overreach_count'], 600);
    assert.equal((details['overreach'] as unknown[]).length, 500);
    assert.equal(narrow(domains, domains).allowedDomains.length, 600);
  });

  const lists: readonly (readonly [string, string, (list: string) => string])[] = [
    ['keys of configuration', 'git: {}', (list) => `git: {allow_config: [${list}]}`],
    [
      'tools of a server',
      'mcp_servers: {srv: {command: [x], tools: [y]}}',
      (list) => `mcp_servers: {srv: {tools: [${list}]}}`,
    ],
  ];
  for (const [what, host, session] of lists) {
    test(`names the first of its ${what}`, () => {
      const [all, ...more] = overreachOf(host, session(names.join(', ')));
      assert.deepEqual(more, []);
      assert.match(all ?? '', /: a0\.test, a1\.test, .*, and 5\d\d more$/);
      const [few] = overreachOf(host, session('a.b, c.d'));
      assert.match(few ?? '', /: a\.b, c\.d$/);
      const [long] = overreachOf(host, session(`a.${'x'.repeat(900)}`));
      assert.match(long ?? '', /: a\.x{157}…$/);
    });
  }
});

describe('what holds when both are narrowed', () => {
  test('a session inside the host is taken as it is [S0-23]', () => {
    const host = [
      'network: {allowed_domains: ["*.example.org", b.test]}',
      "shell_allow: ['^npm', '^cargo']",
      'git: {allow_push: true}',
      'isolation: none',
      'external_tools: [{name: a, command: x}, {name: b}]',
      'providers: {p: {memory_mb: 65}, q: {enabled: false}}',
      'tools: {grep: {timeout_ms: 50}}',
      `secrets: {allow: ["${'a'.repeat(40)}"]}`,
    ].join('\n');
    const session = [
      'network: {allowed_domains: [api.example.org, "*.x.example.org", "b.test:443"]}',
      "shell_allow: ['^npm test']",
      'git: {allow_push: true}',
      'isolation: none',
      'external_tools: [{command: x, name: a}]',
      'providers: {p: {memory_mb: 65}}',
      'tools: {grep: {timeout_ms: 40}}',
    ].join('\n');
    const registry = narrow(host, session);
    assert.deepEqual(registry.warnings, []);
    assert.deepEqual(registry.allowedDomains, ['api.example.org', '*.x.example.org', 'b.test:443']);
    assert.deepEqual(registry.git, {
      allow_push: true,
      allow_force_push: false,
      require_clean_tree_for_commit: false,
      signing: 'off',
      hooks: 'off',
      signoff: false,
      allow_config: [],
      credentials: {},
    });
    assert.equal(narrow('git: {hooks: sandboxed}', 'git: {}').git.hooks, 'sandboxed');
    assert.deepEqual(registry.secrets, { allow: ['a'.repeat(40)] });
    assert.equal(registry.isolation, 'none');
    assert.deepEqual(
      registry.externalTools.map(({ name, command }) => [name, command]),
      [['a', 'x']],
    );
    assert.deepEqual(Object.keys(registry.providers), ['p']);
    assert.deepEqual(registry.tools.get('grep'), { enabled: true, timeout_ms: 40 });
    assert.equal(registry.ceiling.side_effect_level, 'network');
    assert.ok(
      Object.isFrozen(registry) && Object.isFrozen(registry.allowedDomains) && Object.isFrozen(registry.ceiling),
    );
  });

  test('a command line must match a pattern of each side [S0-23]', () => {
    const [pattern] = narrow("shell_allow: ['^npm test', '^ls']", "shell_allow: ['^npm']").shellAllow;
    assert.equal(pattern?.source, '^npm');
    assert.equal(pattern?.test('npm test'), true);
    assert.equal(pattern?.test('npm publish'), false);
    assert.equal(pattern?.test('ls'), false);
  });

  test('what a session leaves out it does not get, and rules and commands of the host stay [S0-23]', () => {
    const host = [
      'network: {allowed_domains: [a.test]}',
      "shell_allow: ['^ls']",
      'validators: [{rule: secrets.scan}]',
      'commands: {build: make}',
      'budgets: {max_calls: 3}',
      'allowed_tools: [grep]',
    ].join('\n');
    const registry = narrow(host, 'ast: {language: rust}');
    assert.deepEqual([registry.allowedDomains, registry.shellAllow], [[], []]);
    assert.deepEqual([...registry.validators.keys()], ['secrets.scan']);
    assert.deepEqual({ ...registry.commands }, { build: 'make' });
    assert.deepEqual(registry.budgets, { max_calls: 3 });
    assert.deepEqual(registry.ceiling.tools, ['grep']);
    assert.equal(registry.ast.language, 'rust');
  });

  test('rules, branches and import rules are joined, the stronger level wins [S0-23]', () => {
    const registry = narrow(
      'validators: [{rule: code.no.unwrap, enforcement: warning}]\nprotected_branches: [main]\nimport_rules: [{from: a}]',
      'validators: [{rule: secrets.scan}, {rule: code.no.unwrap, enforcement: blocking}]\nprotected_branches: [dev]\nimport_rules: [{from: b}]',
    );
    assert.deepEqual(
      [...registry.validators.values()],
      [
        { rule: 'code.no.unwrap', enforcement: 'blocking' },
        { rule: 'secrets.scan', enforcement: 'blocking' },
      ],
    );
    assert.deepEqual(registry.protectedBranches, ['main', 'dev']);
    assert.deepEqual(registry.importRules, [{ from: 'a' }, { from: 'b' }]);
  });

  test('what the host checks after edits stays checked, and what either asks about is asked [S0-23]', () => {
    const host = 'ast: {validate_on_edit: true}\napprovals: {auto_deny: [curl], auto_approve: [grep, file_read]}';
    const session = 'ast: {validate_on_edit: false}\napprovals: {auto_deny: [git_push], auto_approve: [grep]}';
    const registry = narrow(host, session);
    assert.equal(registry.ast.validate_on_edit, true);
    assert.deepEqual(registry.approvals, { auto_deny: ['curl', 'git_push'], auto_approve: ['grep'] });
    assert.equal(narrow('ast: {validate_on_edit: false}', session).ast.validate_on_edit, false);
  });

  test('how long an edit waits for a language server is a preference of the session [S0-23]', () => {
    const host = 'ast: {diagnostics_wait_ms: 1000}';
    assert.equal(narrow(host, 'ast: {diagnostics_wait_ms: 0}').ast.diagnostics_wait_ms, 0);
    assert.equal(narrow(host, 'ast: {language: rust}').ast.diagnostics_wait_ms, 1000);
  });

  test('children may be detached only where host and session say so [S3-49]', () => {
    const allow = 'children: {allow_detach: true}';
    assert.equal(narrow(allow, allow).children.allow_detach, true);
    assert.equal(narrow(allow, '').children.allow_detach, false);
    assert.equal(trim('', allow).children.allow_detach, false);
    assert.throws(() => narrow('', allow), /Detached children are not allowed by the host/);
  });

  test('inexact edits are allowed only where neither host nor session refuses them', () => {
    const refuse = 'edits: {inexact: refuse}';
    assert.equal(narrow('', '').edits.inexact, 'allow');
    assert.equal(narrow('', refuse).edits.inexact, 'refuse');
    assert.equal(narrow(refuse, '').edits.inexact, 'refuse');
    assert.equal(narrow(refuse, 'edits: {inexact: allow}').edits.inexact, 'refuse');
  });

  test('a branch name must match both patterns [S0-23]', () => {
    const pattern = narrow('branch_pattern: ^feat/', 'branch_pattern: x$').branchPattern;
    assert.deepEqual(
      ['feat/x', 'feat/y', 'fix/x'].map((name) => pattern?.test(name)),
      [true, false, false],
    );
    assert.equal(narrow('branch_pattern: ^feat/', 'git: {}').branchPattern?.source, '^feat/');
  });

  test('where both name a command the host wins and says so [S0-23]', () => {
    const registry = narrow('commands: {build: make}', 'commands: {build: npm run build}');
    assert.equal(registry.commands['build'], 'make');
    assert.deepEqual(
      registry.warnings.map(({ message, details }) => `${details?.['registry']} ${message}`),
      ['session.yaml:2 Command of the host is used instead: build'],
    );
  });

  test('warnings of the session file are kept [S0-23]', () => {
    const registry = narrow('git: {}', 'validators: [{rule: lint.must.pass}]');
    assert.match(registry.warnings[0]?.message ?? '', /Rule has no command and will refuse: lint/);
  });

  test('a wider domain is cut down to what the host lists inside it [S0-23]', () => {
    const registry = trim(
      'network: {allowed_domains: [a.x.test, "b.x.test:443", c.test]}',
      'network: {allowed_domains: ["*.x.test"]}',
    );
    assert.deepEqual(registry.allowedDomains, ['a.x.test', 'b.x.test:443']);
  });

  test('limits come down to the lower of both, unwritten ones in silence [S0-23]', () => {
    const registry = narrow('limits: {max_in_flight: 4, lock_wait_ms: 5}', 'limits: {lock_wait_ms: 3}');
    assert.deepEqual([registry.limits.max_in_flight, registry.limits.lock_wait_ms], [4, 3]);
    assert.deepEqual(registry.warnings, []);
  });

  test('a default ceiling is lowered without a warning [S0-23]', () => {
    const registry = narrow("shell_allow: ['^ls']\nside_effect_level: read_only", "shell_allow: ['^ls']");
    assert.equal(registry.ceiling.side_effect_level, 'read_only');
    assert.deepEqual(registry.warnings, []);
  });

  test('an untrusted file only narrows the safe defaults and its wishes are named [S0-23]', () => {
    const session = load(
      'tool-runtime.yaml',
      "shell_allow: ['^npm']\ngit: {allow_push: true}\nvalidators: [{rule: secrets.scan}]",
    );
    const registry = narrowRegistry(defaultRegistry(), session, { overreach: 'warn' });
    assert.deepEqual(registry.shellAllow, []);
    assert.equal(registry.git.allow_push, false);
    assert.equal(registry.ceiling.side_effect_level, 'workspace_write');
    assert.equal(registry.validators.size, 1);
    assert.deepEqual(
      registry.warnings.map(({ details }) => details?.['registry']),
      ['tool-runtime.yaml:2', 'tool-runtime.yaml:3'],
    );
  });

  test('what is deleted when is what the host says [S1-41]', () => {
    assert.equal(narrow('retention: {archives_days: 100}', 'git: {}').retention.archives_days, 100);
    assert.deepEqual(narrow('witness: [{file: /var/w}]', 'git: {}').witness, [{ file: '/var/w' }]);
    assert.equal(narrow('changes: {days: 3}', 'git: {}').changes.days, 3);
    assert.equal(narrow('sealed_args: {keep: false}', 'git: {}').sealedArgs.keep, false);
  });

  test('sandboxed commands need both sides, and the lists of both hold', () => {
    const sandboxed = 'shell: {mode: sandboxed}';
    assert.equal(narrow(sandboxed, 'git: {}').shell.mode, 'strict');
    assert.equal(narrow(sandboxed, sandboxed).shell.mode, 'sandboxed');
    assert.equal(trim('git: {}', sandboxed).shell.mode, 'strict');
    assert.equal(narrow('shell: {mode: sandboxed, unseen: ask}', sandboxed).shell.unseen, 'ask');
    assert.equal(narrow(sandboxed, 'shell: {mode: sandboxed, unseen: deny}').shell.unseen, 'deny');
    const sources = (list: Registry['shellDeny']): readonly string[] => list.map(({ source }) => source);
    const both = narrow(`${sandboxed}\nshell_deny: [a]\nshell_ask: [c]`, `${sandboxed}\nshell_deny: [b, a]`);
    assert.deepEqual([sources(both.shellDeny), sources(both.shellAsk)], [['a', 'b'], ['c']]);
    assert.deepEqual(
      ['shell_deny.0', 'shell_deny.b'].map((path) => both.spot(path)?.file),
      ['host.yaml', 'session.yaml'],
    );
  });

  test('where the host allows any program in its sandbox, a session may name some', () => {
    const sandboxed = 'shell: {mode: sandboxed}';
    const some = `${sandboxed}\nshell_allow: ['^ls']`;
    for (const registry of [narrow(sandboxed, some), narrow(some, sandboxed), narrow(some, some)]) {
      assert.deepEqual(
        [registry.shellAllow.length, registry.shellAllow[0]?.test('ls'), registry.shellAllow[0]?.test('rm')],
        [1, true, false],
      );
    }
    assert.equal(narrow(sandboxed, "shell_allow: ['^ls']").shellAllow.length, 1);
  });

  test('durability is the stronger of the two [S1-40]', () => {
    assert.equal(narrow('durability: full', 'git: {}').durability, 'full');
    assert.equal(narrow('git: {}', 'durability: full').durability, 'full');
    assert.equal(narrow('git: {}', 'git: {}').durability, 'normal');
  });

  test('the host narrowed by itself is the host [S0-23]', () => {
    const host = load(
      'host.yaml',
      readFileSync(new URL('fixtures/every-section.yaml', import.meta.url), 'utf8').slice(11),
    );
    const same = narrowRegistry(host, host, { overreach: 'error' });
    const plain = ({
      spot,
      fingerprint,
      warnings,
      shellAllow,
      shellDeny,
      shellAsk,
      branchPattern,
      importRules,
      ...rest
    }: Registry): unknown => ({
      ...rest,
      patterns: [shellAllow, shellDeny, shellAsk].map((list) => list.map(({ source }) => source)),
      branch: branchPattern?.source,
    });
    assert.deepEqual(plain(same), plain(host));
  });

  test('every line points at the file that wrote it, under its new index [S0-23]', () => {
    const registry = trim(
      'validators:\n  - rule: secrets.scan\nnetwork: {allowed_domains: [a.test]}\nlimits: {max_in_flight: 4}',
      'validators:\n  - rule: code.no.unwrap\nnetwork:\n  allowed_domains:\n    - b.test\n    - a.test\nlimits: {lock_wait_ms: 1}',
    );
    const at = (path: string): string | undefined => {
      const spot = registry.spot(path);
      return spot && `${spot.file}:${spot.line}`;
    };
    assert.equal(at('validators.0'), 'host.yaml:3');
    assert.equal(at('validators.secrets.scan'), 'host.yaml:3');
    assert.equal(at('validators.1'), 'session.yaml:3');
    assert.equal(at('validators.code.no.unwrap.enforcement'), 'session.yaml:3');
    assert.equal(at('network.allowed_domains.0'), 'session.yaml:7');
    assert.equal(at('network.allowed_domains.7'), 'session.yaml:5');
    assert.equal(at('limits.max_in_flight'), 'host.yaml:5');
    assert.equal(at('limits.lock_wait_ms'), 'session.yaml:8');
    assert.equal(at('commands.build'), undefined);
  });

  test('a session requires more of the coordinator and shows it less; it takes nothing away [S0-75]', () => {
    const host = 'coordinator:\n  required:\n    - policy\n  timeout_ms: 900\n  share_args: true';
    const at = (registry: Registry, path: string): string | undefined => {
      const spot = registry.spot(path);
      return spot && `${spot.file}:${spot.line}`;
    };
    const silent = narrow(host, 'git: {}');
    assert.deepEqual(silent.coordinator, { required: ['policy'], timeout_ms: 900, share_args: true });
    const stricter = narrow(host, 'coordinator:\n  required: [budget]\n  share_args: false');
    assert.deepEqual(stricter.coordinator, { required: ['budget', 'policy'], timeout_ms: 900, share_args: false });
    assert.equal(at(stricter, 'coordinator.required.policy'), 'host.yaml:4');
    assert.equal(at(stricter, 'coordinator.required.budget'), 'session.yaml:3');
    assert.deepEqual(narrow(host, 'coordinator: {required: []}').coordinator.required, ['policy']);
    assert.deepEqual(narrow('git: {}', 'coordinator: {required: true}').coordinator.required.length, 3);
  });

  test('a session cannot make the coordinator too late to be heard [S0-75]', () => {
    const registry = narrow('coordinator: {timeout_ms: 900}', 'coordinator:\n  timeout_ms: 1');
    assert.equal(registry.coordinator.timeout_ms, 900);
    assert.deepEqual(
      registry.warnings.map(({ message, details }) => `${details?.['registry']} ${message}`),
      ['session.yaml:3 Time limit of the host is used instead: coordinator.timeout_ms'],
    );
    assert.equal(narrow('git: {}', 'coordinator: {timeout_ms: 1}').coordinator.timeout_ms, 2000);
  });

  test('has a fingerprint of its own [S0-23]', () => {
    assert.equal(narrow('git: {}', 'git: {}').fingerprint, narrow('git: {}', 'git: {}').fingerprint);
    assert.notEqual(narrow('git: {}', 'git: {}').fingerprint, narrow('isolation: none', 'git: {}').fingerprint);
  });
});

describe('narrowing', () => {
  const optional = { requiredKeys: [] };
  const level = fc.constantFrom('none', 'read_only', 'workspace_write', 'process_exec', 'network');
  const domain = fc.constantFrom('a.test', '*.a.test', 'x.a.test', '*.x.a.test', 'b.test:80', 'b.test', '.test');
  const figure = fc.integer({ min: 1, max: 5 });
  const written = fc.record(
    {
      network: fc.record(
        {
          allowed_domains: fc.array(domain, { maxLength: 3 }),
          insecure_credentials: fc.array(domain, { maxLength: 3 }),
        },
        optional,
      ),
      shell: fc.record({ mode: fc.constantFrom('strict', 'sandboxed'), unseen: fc.constantFrom(...UNSEEN) }, optional),
      shell_deny: fc.array(fc.constantFrom('test', '^a', 'b$'), { maxLength: 2 }),
      shell_ask: fc.array(fc.constantFrom('npm', '^ls'), { maxLength: 2 }),
      shell_allow: fc.array(fc.constantFrom('^npm', '^npm test', '^(a|b)', '^a$', '^'), { maxLength: 3 }),
      git: fc.record(
        {
          allow_push: fc.boolean(),
          allow_force_push: fc.boolean(),
          require_clean_tree_for_commit: fc.boolean(),
          signing: fc.constantFrom('off', 'agent'),
          hooks: fc.constantFrom('off', 'sandboxed'),
          allow_config: fc.subarray(['filter.lfs.*', 'core.hooksPath']),
          credentials: fc.constantFrom({}, { 'example.org': 'TOKEN' }),
        },
        optional,
      ),
      validators: fc.uniqueArray(
        fc.record({
          rule: fc.constantFrom('secrets.scan', 'code.no.unwrap'),
          enforcement: fc.constantFrom(...ENFORCEMENTS),
        }),
        { selector: ({ rule }) => rule },
      ),
      commands: fc.dictionary(fc.constantFrom('build', 'lint'), fc.constantFrom('make', 'npm'), { maxKeys: 2 }),
      allowed_tools: fc.array(fc.constantFrom('grep', 'fs_*', 'fs_list', '*'), { maxLength: 3 }),
      side_effect_level: level,
      recursion_limit: figure,
      isolation: fc.constantFrom('bubblewrap', 'none'),
      durability: fc.constantFrom('normal', 'full'),
      limits: fc.record({ max_in_flight: figure, lock_wait_ms: figure }, optional),
      budgets: fc.record({ max_calls: figure }, optional),
      coordinator: fc.record(
        {
          required: fc.oneof(fc.constant(true), fc.subarray(['plan', 'budget', 'policy'])),
          timeout_ms: figure,
          share_args: fc.boolean(),
        },
        optional,
      ),
      tools: fc.dictionary(
        fc.constantFrom('grep', 'other'),
        fc.record({ enabled: fc.boolean(), timeout_ms: figure, max_timeout_ms: fc.constant(5) }, optional),
        { maxKeys: 2 },
      ),
      external_tools: fc.uniqueArray(
        fc.record({ name: fc.constantFrom('a', 'b'), command: fc.constantFrom('x', 'y') }),
        {
          selector: ({ name }) => name,
        },
      ),
    },
    optional,
  );
  /** One line of YAML a section; JSON is YAML. */
  const readable = (file: string): fc.Arbitrary<Registry> =>
    written.map((sections) => {
      const text = Object.entries(sections).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
      return load(file, text.join('\n'));
    });

  const hosts = ['a.test', 'x.a.test', 'y.x.a.test', 'b.test:80', 'b.test:81', 'b.test', 'c.test'];
  const lines = ['npm', 'npm test', 'a', 'b', 'ab', 'ls'];
  const tools = ['grep', 'fs_list', 'fs_move', 'other'];

  function mayRun({ shell, shellAllow, shellDeny }: Registry, line: string): boolean {
    if (shellDeny.some((pattern) => pattern.test(line))) return false;
    const isOpen = shell.mode === 'sandboxed' && shellAllow.length === 0;
    return isOpen || shellAllow.some((pattern) => pattern.test(line));
  }

  /** Everything a registry grants, as a set of words: narrowing may only take words away. */
  function grants(registry: Registry): Set<string> {
    const usable = registry.ceiling.tools === undefined ? () => true : compileGlobs(registry.ceiling.tools);
    return new Set([
      ...hosts.filter((host) => hostAllowed(registry.allowedDomains, host) !== undefined).map((host) => `host ${host}`),
      ...hosts
        .filter((host) => hostAllowed(registry.insecureCredentials, host) !== undefined)
        .map((host) => `insecure ${host}`),
      ...lines.filter((line) => mayRun(registry, line)).map((line) => `line ${line}`),
      ...lines
        .filter((line) => mayRun(registry, line) && !registry.shellAsk.some((pattern) => pattern.test(line)))
        .map((line) => `line ${line} unasked`),
      ...(registry.shell.mode === 'sandboxed' ? ['scripts'] : []),
      ...tools
        .filter((tool) => usable(tool) && registry.tools.get(tool)?.enabled !== false)
        .map((tool) => `tool ${tool}`),
      ...(registry.git.allow_push ? ['push'] : []),
      ...(registry.git.require_clean_tree_for_commit ? [] : ['dirty commit']),
      ...(registry.git.allow_force_push ? ['forced push'] : []),
      ...(registry.git.signing === 'agent' ? ['sign'] : []),
      ...registry.git.allow_config.map((key) => `config ${key}`),
      ...Object.values(registry.git.credentials).map((name) => `credential ${name}`),
      ...(registry.isolation === 'none' ? ['no isolation'] : []),
      ...(registry.durability === 'normal' ? ['lost at a power cut'] : []),
      ...registry.externalTools.map((tool) => `external ${tool.name} ${tool.command}`),
    ]);
  }

  /** Figures of which lower is stricter. */
  function figures(registry: Registry): readonly number[] {
    const weakness = (rule: string): number => {
      const validator = registry.validators.get(rule);
      return validator === undefined ? ENFORCEMENTS.length : ENFORCEMENTS.indexOf(validator.enforcement);
    };
    const grep = registry.tools.get('grep');
    return [
      registry.limits.max_in_flight,
      registry.limits.lock_wait_ms,
      registry.budgets.max_calls ?? Number.POSITIVE_INFINITY,
      registry.ceiling.recursion_limit ?? Number.POSITIVE_INFINITY,
      sideEffectRank(registry.ceiling.side_effect_level ?? 'network'),
      grep?.timeout_ms ?? 10_000,
      weakness('secrets.scan'),
      weakness('code.no.unwrap'),
      UNSEEN.indexOf(registry.shell.unseen),
      grep?.max_timeout_ms ?? grep?.timeout_ms ?? 10_000,
    ];
  }

  test('never grants what either side does not [S0-23] (deep)', () => {
    fc.assert(
      fc.property(readable('host.yaml'), readable('session.yaml'), (host, session) => {
        const result = narrowRegistry(host, session, { overreach: 'warn', toolTimeouts });
        for (const side of [host, session]) {
          assert.deepEqual([...grants(result).difference(grants(side))], []);
        }
        // The last figure applies where a side sets none, and only the host's may do so.
        const [ours, theirs, both] = [figures(host), figures(session), figures(result)];
        assert.ok(
          both.every((value, index) => value <= (ours[index] ?? 0)),
          `${both} above the host's ${ours}`,
        );
        assert.ok(
          both.slice(0, -1).every((value, index) => value <= (theirs[index] ?? 0)),
          `${both} above ${theirs}`,
        );
        assert.deepEqual(result.commands, host.commands);
        const demanded = new Set([...host.coordinator.required, ...session.coordinator.required]);
        assert.deepEqual(new Set(result.coordinator.required), demanded);
        assert.equal(result.coordinator.timeout_ms, host.coordinator.timeout_ms);
        assert.ok(!result.coordinator.share_args || host.coordinator.share_args);
      }),
      { numRuns: 1500 },
    );
  });

  test('refuses exactly where trimming names something [S0-23]', () => {
    fc.assert(
      fc.property(readable('host.yaml'), readable('session.yaml'), (host, session) => {
        const trimmed = narrowRegistry(host, session, { overreach: 'warn', toolTimeouts });
        const named = trimmed.warnings.some(({ details }) => details?.['reason'] === 'registry_overreach');
        const attempt = (): Registry => narrowRegistry(host, session, { overreach: 'error', toolTimeouts });
        if (named) assert.throws(attempt, (thrown) => isToolError(thrown) && thrown.code === 'E_POLICY');
        else assert.deepEqual(grants(attempt()), grants(trimmed));
      }),
      { numRuns: 500 },
    );
  });
});
