/**
 * Semgrep is not exercised: a stand-in prints documented shapes and exit codes. ast-grep, oxlint, biome and pyright run for
 * real, on lines with wide characters, against places this file computes from the sources by itself.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ToolError } from '@tool-runtime/protocol';
import { type CommandRunnerOptions, createCommandRunner } from '@tool-runtime/sdk/testing';
import type { AnalyzerFinding } from './analyzer-adapter.ts';
import {
  type AnalyzerRunner,
  type AnalyzerRunnerOptions,
  analyzerTarget,
  createAnalyzerRunner,
} from './analyzer-runner.ts';

const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

interface Setting {
  readonly workspace: string;
  readonly runner: AnalyzerRunner;
  /** Puts a shell script where programs are looked for. */
  program(name: string, script: string): void;
}

type More = Partial<AnalyzerRunnerOptions> & Pick<Partial<CommandRunnerOptions>, 'isolation'>;

function open(t: TestContext, files: Readonly<Record<string, string>> = {}, more: More = {}): Setting {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'analyzer-')));
  const [workspace, state, bin] = [join(root, 'workspace'), join(root, 'state'), join(root, 'bin')];
  for (const folder of [workspace, state, bin]) mkdirSync(folder, { mode: 0o700 });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  const { isolation = 'none', ...options } = more;
  const commands = createCommandRunner({
    workspace,
    state,
    isolation,
    allowedDomains: [],
    programFolders: [join(MODULES, '.bin'), bin],
    readPaths: [MODULES],
  });
  t.after(async () => {
    await commands.close();
    rmSync(root, { recursive: true, force: true });
  });
  const readSource = (file: string) => readFileSync(join(workspace, file));
  return {
    workspace,
    runner: createAnalyzerRunner({ commands, root: workspace, readSource, ...options }),
    program: (name, script) => writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
  };
}

const semgrepOutput = (results: readonly object[], errors: readonly object[] = []): string =>
  JSON.stringify({ version: '1.100.0', results, errors, paths: { scanned: ['a.js'] } });

const RESULT = {
  check_id: 'no-eval',
  path: 'a.js',
  start: { line: 1, col: 1, offset: 0 },
  end: { line: 1, col: 8, offset: 7 },
  extra: { message: 'no eval', severity: 'WARNING', metadata: {}, fingerprint: 'f', lines: 'requires login' },
};

const printing = (text: string, code: number): string => `cat <<'END'\n${text}\nEND\nexit ${code}`;

describe('a stand-in for Semgrep', () => {
  const run = { provider: 'semgrep', config: 'rules.yml' };

  for (const code of [0, 1]) {
    test(`ends with ${code} and has its output read [S0-56]`, async (t) => {
      const { runner, program } = open(t, { 'a.js': 'eval(1)\n' });
      program('semgrep', printing(semgrepOutput([RESULT]), code));
      const { findings, exitCode, provider, notes } = await runner.run(run);
      assert.deepEqual([provider, exitCode, notes], ['semgrep', code, []]);
      assert.deepEqual(
        findings.map(({ rule, level, file, line, col, endCol }) => [rule, level, file, line, col, endCol]),
        [['no-eval', 'warning', 'a.js', 1, 1, 8]],
      );
    });
  }

  for (const code of [2, 7]) {
    test(`ends with ${code} and has failed, for the reason it printed, without secrets [S0-56]`, async (t) => {
      const { runner, program } = open(t, {}, { redact: (text) => text.replaceAll('hunter2', '[secret]') });
      const errors = [{ code, level: 'error', type: 'InvalidRule', message: 'bad rule hunter2' }];
      program('semgrep', `echo 'scan failed' >&2\n${printing(semgrepOutput([RESULT], errors), code)}`);
      await assert.rejects(runner.run(run), (thrown: ToolError) => {
        assert.deepEqual([thrown.code, thrown.message], ['E_SHELL', `Analyzer failed: semgrep, exit code ${code}`]);
        assert.equal(thrown.details['exit_code'], code);
        assert.match(String(thrown.details['output']), /InvalidRule: bad rule \[secret\]\nscan failed/);
        assert.doesNotMatch(JSON.stringify(thrown.toEntry()), /hunter2/);
        return true;
      });
    });
  }

  test('is told to stay offline, to use the given rules, and gets names no one takes for options [S0-56]', async (t) => {
    const { runner, program, workspace } = open(t);
    program('semgrep', `printf '%s\\n' "$@" > args\n${printing(semgrepOutput([]), 0)}`);
    await runner.run({ ...run, config: 'p/ci', paths: ['src dir', '--config=auto', '$(touch owned)'] });
    assert.deepEqual(readFileSync(join(workspace, 'args'), 'utf8').trimEnd().split('\n'), [
      ...['scan', '--json', '--quiet', '--metrics=off', '--disable-version-check'],
      ...['--config', './p/ci', './src dir', './--config=auto', './$(touch owned)'],
    ]);
    assert.equal(existsSync(join(workspace, 'owned')), false);
  });

  test('is not asked without rules [S0-56]', async (t) => {
    const { runner } = open(t);
    await assert.rejects(runner.run({ provider: 'semgrep' }), { code: 'E_VALIDATION_FAIL', path: 'config' });
  });

  test('that is not there is said to be missing, with what to install [S0-56]', async (t) => {
    const { runner } = open(t);
    await assert.rejects(runner.run(run), (thrown: ToolError) => {
      assert.deepEqual([thrown.code, thrown.message], ['E_SHELL', 'Analyzer is not installed: semgrep']);
      assert.equal(thrown.details['reason'], 'not_installed');
      assert.match(String(thrown.details['next']), /pip install semgrep/);
      return true;
    });
  });
});

describe('any analyzer', () => {
  const own = { name: 'own', command: ['own-tool', '-x'], format: 'oxlint-json' } as const;
  const NOTHING = '{"diagnostics":[]}';

  test('may be configured by the operator, also in place of a known one [S0-56]', async (t) => {
    const better = { name: 'eslint', command: ['own-tool'], format: 'oxlint-json', goodCodes: [4] } as const;
    const { runner, program, workspace } = open(t, {}, { configured: [own, better] });
    program('own-tool', `printf '%s\\n' "$@" > args\n${printing(NOTHING, 0)}`);
    assert.deepEqual((await runner.run({ provider: 'own', paths: ['a'] })).findings, []);
    assert.equal(readFileSync(join(workspace, 'args'), 'utf8'), '-x\n./a\n');
    await assert.rejects(runner.run({ provider: 'eslint' }), { code: 'E_SHELL' });
    program('own-tool', printing(NOTHING, 4));
    assert.equal((await runner.run({ provider: 'eslint' })).exitCode, 4);
    assert.deepEqual(runner.names, ['ast-grep', 'biome', 'eslint', 'own', 'oxlint', 'pyright', 'semgrep']);
  });

  test('must be configured, and rightly [S0-56]', async (t) => {
    const { runner } = open(t);
    await assert.rejects(runner.run({ provider: 'toString' }), { code: 'E_VALIDATION_FAIL', path: 'provider' });
    assert.throws(() => open(t, {}, { configured: [{ ...own, command: [] }] }), TypeError);
    assert.throws(() => open(t, {}, { configured: [{ ...own, format: 'x' as 'sarif' }] }), TypeError);
  });

  test('looks at nothing outside the workspace [S0-56]', async (t) => {
    const { runner } = open(t, {}, { configured: [own] });
    await assert.rejects(runner.run({ provider: 'own', paths: ['../x'] }), { code: 'E_POLICY', path: 'paths' });
    await assert.rejects(runner.run({ provider: 'own', config: '/etc/x' }), { code: 'E_POLICY', path: 'config' });
  });

  test('that prints no findings where it should has failed, or is of another format [S0-56]', async (t) => {
    const { runner, program } = open(t, {}, { configured: [own] });
    program('own-tool', printing('cannot read the configuration', 1));
    await assert.rejects(runner.run({ provider: 'own' }), (thrown: ToolError) => {
      assert.equal(thrown.code, 'E_SHELL');
      assert.equal(thrown.details['output'], 'cannot read the configuration');
      return true;
    });
    program('own-tool', printing('all is well', 0));
    await assert.rejects(runner.run({ provider: 'own' }), { code: 'E_VALIDATION_FAIL' });
  });

  test('that is ended by a signal has failed [S0-56]', async (t) => {
    const { runner, program } = open(t, {}, { configured: [own] });
    program('own-tool', 'kill -9 $$');
    await assert.rejects(runner.run({ provider: 'own' }), {
      code: 'E_SHELL',
      message: 'Analyzer failed: own, ended by SIGKILL',
    });
  });

  test('is stopped when it prints too much [S0-56]', async (t) => {
    const { runner, program } = open(t, {}, { configured: [own] });
    program('own-tool', 'exec yes');
    await assert.rejects(runner.run({ provider: 'own' }), (thrown: ToolError) => {
      return thrown.code === 'E_VALIDATION_FAIL' && thrown.details['reason'] === 'too_large';
    });
  });

  test('is stopped at its time limit, the one of the call before its own [S0-56]', async (t) => {
    const { runner, program } = open(t, {}, { configured: [{ ...own, timeoutMs: 3_600_000 }] });
    program('own-tool', 'exec sleep 3600');
    await assert.rejects(runner.run({ provider: 'own', timeoutMs: 50 }), { code: 'E_TIMEOUT' });
  });

  test('is stopped with its caller, before it starts and while it runs [S0-56]', async (t) => {
    const { runner, program, workspace } = open(t, {}, { configured: [own] });
    program('own-tool', 'echo started > started\nexec sleep 3600');
    const reason = new ToolError('E_TIMEOUT', 'The call took too long');
    await assert.rejects(runner.run({ provider: 'own', signal: AbortSignal.abort(reason) }), reason);
    assert.equal(existsSync(join(workspace, 'started')), false);
    const stop = new AbortController();
    const running = runner.run({ provider: 'own', signal: stop.signal });
    while (!existsSync(join(workspace, 'started'))) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    await assert.rejects(running, { code: 'E_INTERNAL', message: 'Analyzer was cancelled: own' });
  });
});

const SCRIPT = 'export const face = "😀é"; debugger;\n\n/* é😀 */ eval(face);\n';
const ODD_NAME = 'src/p%20q #é.ts';

const RULES = `id: no-eval
language: TypeScript
severity: error
message: no eval
rule: { pattern: eval($A) }
fix: safe($A)
---
id: no-debugger
language: TypeScript
severity: hint
rule: { pattern: debugger }
`;

/** Where a piece of the source is, counted here and not by what is tested. */
function spot(text: string, piece: string) {
  const at = text.indexOf(piece);
  assert.notEqual(at, -1);
  const point = (index: number) => ({
    line: text.slice(0, index).split('\n').length,
    col: index - text.lastIndexOf('\n', index - 1),
  });
  const [start, end] = [point(at), point(at + piece.length)];
  return { ...start, endLine: end.line, endCol: end.col };
}

const placeOf = ({ line, col, endLine, endCol }: AnalyzerFinding) => ({ line, col, endLine, endCol });

describe('real analyzers', () => {
  for (const isolation of ['none', 'bubblewrap'] as const) {
    test(`ast-grep says the same as JSON and as SARIF, isolation ${isolation} [S0-56]`, async (t) => {
      const command = ['ast-grep', 'scan', '--rule', 'rules.yml', '--format', 'sarif'];
      const configured = [{ name: 'ast-grep-sarif', command, format: 'sarif' } as const];
      const files = { [ODD_NAME]: SCRIPT, 'rules.yml': RULES };
      const { runner } = open(t, files, { isolation, configured });
      const json = await runner.run({ provider: 'ast-grep', config: 'rules.yml' });
      const place = spot(SCRIPT, 'eval(face)');
      const start = Buffer.byteLength(SCRIPT.slice(0, SCRIPT.indexOf('eval')));
      const edit = { startLine: 3, startCol: place.col, endLine: 3, endCol: place.endCol, newText: 'safe(face)' };
      assert.deepEqual(json.findings, [
        {
          provider: 'ast-grep',
          rule: 'no-debugger',
          level: 'note',
          message: 'no-debugger',
          file: ODD_NAME,
          ...spot(SCRIPT, 'debugger'),
          span: json.findings[0]?.span,
        },
        {
          provider: 'ast-grep',
          rule: 'no-eval',
          level: 'error',
          message: 'no eval',
          file: ODD_NAME,
          ...place,
          span: { start, end: start + 'eval(face)'.length },
          fix: { edits: [{ file: ODD_NAME, ...edit }] },
        },
      ]);
      assert.deepEqual([json.exitCode, json.notes, json.networkEnforced], [1, [], isolation === 'bubblewrap']);
      const log = await runner.run({ provider: 'ast-grep-sarif' });
      const renamed = log.findings.map((finding) => ({ ...finding, provider: 'ast-grep' }));
      assert.deepEqual(renamed, json.findings);
    });
  }

  test('oxlint says the same as JSON and as SARIF, in a file whose name looks encoded [S0-56]', async (t) => {
    const configured = [{ name: 'sarif', command: ['oxlint', '--format=sarif'], format: 'sarif' } as const];
    const { runner } = open(t, { [ODD_NAME]: SCRIPT }, { configured });
    const json = await runner.run({ provider: 'oxlint', paths: ['src'] });
    assert.deepEqual(
      json.findings.map((finding) => [finding.rule, finding.file, placeOf(finding)]),
      [
        ['eslint(no-debugger)', ODD_NAME, spot(SCRIPT, 'debugger;')],
        ['eslint(no-eval)', ODD_NAME, spot(SCRIPT, 'eval')],
      ],
    );
    assert.match(json.findings[0]?.docs ?? '', /^https:/);
    const log = await runner.run({ provider: 'sarif', paths: ['src'] });
    const facts = ({ rule, level, file, docs, ...place }: AnalyzerFinding) => ({
      rule,
      level,
      file,
      docs,
      ...placeOf({ rule, level, file, ...place }),
    });
    assert.deepEqual(log.findings.map(facts), json.findings.map(facts));
  });

  test('Biome says the same as SARIF and as JSON [S0-56]', async (t) => {
    const command = ['biome', 'lint', '--reporter=json', '--max-diagnostics=none'];
    const { runner } = open(
      t,
      { [ODD_NAME]: SCRIPT },
      { configured: [{ name: 'json', command, format: 'biome-json' }] },
    );
    const log = await runner.run({ provider: 'biome' });
    assert.deepEqual(
      log.findings.map((finding) => [finding.rule, finding.level, finding.file, placeOf(finding)]),
      [
        ['lint/suspicious/noDebugger', 'error', ODD_NAME, spot(SCRIPT, 'debugger;')],
        ['lint/security/noGlobalEval', 'error', ODD_NAME, spot(SCRIPT, 'eval')],
      ],
    );
    const json = await runner.run({ provider: 'json' });
    assert.deepEqual(
      json.findings.map((finding) => ({ ...finding, provider: 'biome' })),
      log.findings.map(({ docs: _, ...finding }) => finding),
    );
  });

  test('Biome tells all it finds, not the first twenty [S0-56]', async (t) => {
    const { runner } = open(t, { 'a.ts': 'debugger;\n'.repeat(50) });
    const { findings } = await runner.run({ provider: 'biome' });
    assert.equal(findings.filter(({ rule }) => rule.endsWith('noDebugger')).length, 50);
  });

  test('Pyright counts in UTF-16 units already [S0-56]', async (t) => {
    const source = 'face = "😀é"; missing_name\n\nbroken: int = "😀"\n';
    const { runner } = open(t, { 'pkg/m ä.py': source });
    const { findings, exitCode } = await runner.run({ provider: 'pyright' });
    assert.equal(exitCode, 1);
    const found = findings.filter(({ level }) => level === 'error');
    assert.deepEqual(
      found.map((finding) => [finding.rule, finding.file, placeOf(finding)]),
      [
        ['reportUndefinedVariable', 'pkg/m ä.py', spot(source, 'missing_name')],
        ['reportAssignmentType', 'pkg/m ä.py', spot(source, '"😀"')],
      ],
    );
  });

  test('find nothing in an empty workspace, and that is no failure [S0-56]', async (t) => {
    const { runner } = open(t, { 'rules.yml': RULES });
    for (const provider of ['oxlint', 'biome', 'pyright']) {
      const { findings, notes } = await runner.run({ provider });
      assert.deepEqual([provider, findings, notes], [provider, [], []]);
    }
    const { findings } = await runner.run({ provider: 'ast-grep', config: 'rules.yml' });
    assert.deepEqual(findings, []);
  });

  test('that cannot read their configuration have failed and say why [S0-56]', async (t) => {
    const broken = { '.oxlintrc.json': '{', 'biome.json': '{"linter": 3', 'sgconfig.yml': 'ruleDirs: [x' };
    const { runner } = open(t, { ...broken, 'pyrightconfig.json': '{"include": 3', 'a.ts': 'a;\n', 'a.py': 'a\n' });
    const reasons = { oxlint: /oxlint/, biome: /configuration/, 'ast-grep': /sgconfig/, pyright: /pyrightconfig/ };
    for (const [provider, reason] of Object.entries(reasons)) {
      await assert.rejects(runner.run({ provider }), (thrown: ToolError) => {
        assert.deepEqual([thrown.code, thrown.details['reason']], ['E_SHELL', 'analyzer_failed'], provider);
        assert.match(String(thrown.details['output']), reason);
        return true;
      });
    }
  });
});

describe('what an analyzer is pointed at', () => {
  test('is written so that no name is taken for an option or a registry entry [S0-56]', () => {
    assert.deepEqual(analyzerTarget(['src', '-o', './a b', '.', '!x'], 'p/ci'), {
      paths: ['./src', './-o', './a b', '.', './!x'],
      config: './p/ci',
    });
  });

  test('lies inside the workspace [S0-56]', () => {
    for (const path of ['/etc', '..', 'a/../../b', '', 'a\0b']) {
      assert.throws(() => analyzerTarget([path], undefined), { code: 'E_POLICY', path: 'paths' }, path);
      assert.throws(() => analyzerTarget([], path), { code: 'E_POLICY', path: 'config' }, path);
    }
    assert.deepEqual(analyzerTarget(['a/../b'], undefined).paths, ['./b']);
  });

  test('is not longer than a command line can be', () => {
    assert.throws(() => analyzerTarget(new Array(1_001).fill('a'), undefined), { code: 'E_VALIDATION_FAIL' });
    assert.equal(analyzerTarget(new Array(1_000).fill('a'), undefined).paths.length, 1_000);
  });
});
