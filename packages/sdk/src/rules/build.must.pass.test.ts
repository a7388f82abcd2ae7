import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gateProbe, inForce, withGate } from '../../test/gate-probe.ts';
import { createRepository, openGitRuntime } from '../../test/git-repository.ts';
import { defineRule } from '../contracts/rule.ts';
import { checkCommand } from './check-command.ts';

const registry = (commands: string, level = 'blocking') =>
  `${inForce('build.must.pass', level)}\ncommands: ${commands}`;
const BUILD = registry('{build: sh build.sh}');
/** Leaves a trace that git ignores, so that a test can count how often it ran. */
const COUNT = 'echo x >> ran.log\n';
const files = (script: string) => ({
  'build.sh': `${COUNT}${script}\n`,
  '.gitignore': 'ran.log\nout\n',
  'a.txt': 'one\n',
});

describe('build.must.pass [S0-64]', () => {
  test('a build that succeeds lets the commit through, one that fails stops it and says why [S0-64]', async () => {
    await withGate({ registry: BUILD, files: files('mkdir -p out && touch out/made') }, async (gate) => {
      gate.stage({ 'a.txt': 'two\n' });
      assert.equal((await gate.ask()).error, undefined);
      assert.ok(existsSync(gate.repository.path('out/made')));
      gate.stage({ 'build.sh': 'echo "it is broken" >&2; exit 3\n' });
      const { error } = await gate.ask();
      assert.equal(error?.code, 'E_VALIDATION_FAIL');
      assert.equal(error?.message, 'Build failed: exit code 3');
      assert.equal(error?.details?.['rule'], 'build.must.pass');
      assert.equal(error?.details?.['registry'], 'ops.yaml:2');
      assert.equal(error?.details?.['output'], 'it is broken');
      assert.equal(error?.details?.['fix'], undefined);
    });
  });

  test('complaints in a known format become places in files, absolute names made relative [S0-64]', async () => {
    await withGate({ registry: BUILD, files: files('true') }, async (gate) => {
      const complaint = `echo "src/a.ts(3,7): error TS2322: Type is wrong."\necho "$PWD/src/b.c:9:1: error: no such thing"\nexit 1\n`;
      gate.stage({ 'build.sh': complaint });
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Build failed: Type is wrong. (TS2322)');
      assert.equal(error?.path, 'src/a.ts');
      assert.equal(error?.details?.['line'], 3);
      const violations = error?.details?.['violations'] as { path: string; line: number }[];
      assert.deepEqual(
        violations.map(({ path, line }) => `${path}:${line}`),
        ['src/a.ts:3', 'src/b.c:9'],
      );
    });
  });

  test('the output in an answer is bounded and is its end [S0-64] (deep)', async () => {
    const loud = 'i=0; while [ $i -lt 20000 ]; do echo "line $i äöü"; i=$((i+1)); done; exit 1';
    await withGate({ registry: BUILD, files: files(loud) }, async (gate) => {
      gate.stage({ 'a.txt': 'two\n' });
      const output = String((await gate.ask()).error?.details?.['output']);
      assert.ok(Buffer.byteLength(output) <= 2100, String(Buffer.byteLength(output)));
      assert.ok(output.endsWith('line 19999 äöü'));
      assert.match(output, /^…line \d+ äöü\n/);
    });
  });

  test('4.14 without a command the rule refuses and says which key to set (deep)', async () => {
    await withGate({ registry: inForce('build.must.pass'), files: files('true') }, async (gate) => {
      gate.stage({ 'a.txt': 'two\n' });
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Rule has no command: build.must.pass');
      assert.equal(error?.details?.['next'], 'set commands.build in the registry');
    });
  });

  test('4.14 a command of the rule itself is used before that of the step, and a fix is proposed where there is one (deep)', async () => {
    const text = registry('{build: sh build.sh, build.must.pass: sh other.sh, build.fix: sh mend.sh}');
    await withGate({ registry: text, files: { ...files('true'), 'other.sh': 'exit 5\n' } }, async (gate) => {
      gate.stage({ 'a.txt': 'two\n' });
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Build failed: exit code 5');
      assert.deepEqual(error?.details?.['fix'], { kind: 'command', command: 'sh mend.sh' });
      assert.equal(existsSync(gate.repository.path('ran.log')), false);
    });
  });

  test('nothing runs while files on disk are not what would be committed [S0-64]', async () => {
    const text = `${BUILD}\ngit: {require_clean_tree_for_commit: false}`;
    await withGate({ registry: text, files: files('true') }, async (gate) => {
      gate.stage({ 'a.txt': 'staged\n' });
      gate.repository.write({ 'a.txt': 'on disk\n' });
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Build would judge other files than would be committed: a.txt');
      assert.equal(existsSync(gate.repository.path('ran.log')), false);
      gate.repository.git('add', 'a.txt');
      assert.equal((await gate.ask()).ok, true);
    });
  });

  test('a build that changes tracked files has judged something else and does not count [S0-64] (deep)', async () => {
    await withGate({ registry: BUILD, files: files('echo generated > a.txt') }, async (gate) => {
      gate.stage({ 'b.txt': 'two\n' });
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Build changed files: a.txt');
      assert.deepEqual(error?.details?.['paths'], ['a.txt']);
    });
  });

  test('a program that is not there, a signal and a line no shell may run are refusals [S0-64] (deep)', async () => {
    const cases = [
      ['{build: no-such-program-here}', /^Build could not run: Program not found: no-such-program-here/],
      ["{build: 'sh build.sh > out'}", /^Build could not run: /],
      ['{build: sh kill.sh}', /^Build failed: (ended by SIGKILL|exit code 137)/],
    ] as const;
    for (const [commands, message] of cases) {
      const kill = { ...files('true'), 'kill.sh': 'kill -9 $$\n' };
      await withGate({ registry: registry(commands), files: kill }, async (gate) => {
        gate.stage({ 'a.txt': 'two\n' });
        assert.match(String((await gate.ask()).error?.message), message);
      });
    }
  });

  test('a command that takes too long is ended and counts as failed [S0-64] (deep)', async () => {
    const slow = defineRule({
      id: 'slow.build',
      category: 'Build',
      description: 'A build with little time',
      phase: 'on-commit',
      trigger: 'on commit',
      defaultEnforcement: 'blocking',
      appliesTo: ({ git }) => git !== undefined,
      check: checkCommand({ rule: 'slow.build', step: 'build', title: 'Build', whenItWrites: '', timeoutMs: 300 }),
    });
    const text = `${inForce('slow.build')}\ncommands: {build: sh build.sh}`;
    await withGate(
      { registry: text, files: files('echo begun; sleep 600'), runtime: { rules: [slow] } },
      async (gate) => {
        gate.stage({ 'a.txt': 'two\n' });
        const { error } = await gate.ask();
        assert.equal(error?.message, 'Build failed: not done after 300 ms');
        assert.equal(error?.details?.['output'], 'begun');
        assert.equal(error?.details?.['reason'], 'timeout');
      },
    );
  });

  test('the command cannot write to the repository [S0-64]', async () => {
    await withGate({ registry: BUILD, files: files('echo "[core]" > .git/config') }, async (gate) => {
      const before = readFileSync(gate.repository.path('.git/config'), 'utf8');
      gate.stage({ 'a.txt': 'two\n' });
      assert.equal((await gate.ask()).ok, false);
      assert.equal(readFileSync(gate.repository.path('.git/config'), 'utf8'), before);
    });
  });

  test('4.16 at warning level a failing build is told and the call goes on; a suggestion likewise [S0-72] (deep)', async () => {
    for (const level of ['warning', 'suggestion']) {
      await withGate({ registry: registry('{build: sh build.sh}', level), files: files('exit 1') }, async (gate) => {
        gate.stage({ 'a.txt': 'two\n' });
        const { ok, warnings } = await gate.ask();
        assert.equal(ok, true);
        assert.equal(warnings[0]?.details?.['rule'], 'build.must.pass');
        assert.equal(warnings[0]?.details?.['enforcement'], level);
      });
    }
  });

  test('4.16 push, merge and rebase take the recorded pass of the tree on its branch, and run the rules without one (deep)', async () => {
    const registry = `${BUILD}\ngit: {allow_push: true}`;
    await withGate({ registry, files: files('true') }, async (gate) => {
      const { repository } = gate;
      repository.git('init', '--quiet', '--bare', `${repository.beside}/remote.git`);
      repository.git('remote', 'add', 'origin', `${repository.beside}/remote.git`);
      repository.git('push', '--quiet', 'origin', 'main');
      const runs = () => readFileSync(repository.path('ran.log'), 'utf8').split('\n').length - 1;
      gate.stage({ 'a.txt': 'two\n' });
      assert.equal((await gate.ask()).ok, true);
      assert.equal(runs(), 1);
      repository.git('commit', '--quiet', '-m', 'x');
      for (const verb of ['push', 'merge', 'rebase'] as const)
        assert.equal((await gate.ask({ verb, remote: 'origin' })).error, undefined);
      assert.equal(runs(), 1);
      repository.git('checkout', '--quiet', '-b', 'elsewhere');
      assert.equal((await gate.ask({ verb: 'push', remote: 'origin' })).error, undefined);
      assert.equal(runs(), 2);
      repository.commit({ 'a.txt': 'made outside\n', 'build.sh': 'exit 1\n' });
      for (const verb of ['push', 'merge', 'rebase'] as const) {
        const made = await gate.ask({ verb, remote: 'origin' });
        assert.equal(made.error?.message, 'Build failed: exit code 1', verb);
      }
    });
  });

  test('4.16 a pass is worth what the registry demanded then: another registry runs its rules again (deep)', async () => {
    const repository = createRepository({ files: files('true') });
    const state = mkdtempSync(join(tmpdir(), 'state-'));
    const push = async (registry: string) => {
      const runtime = await openGitRuntime(repository, { registry, state, tools: [gateProbe] });
      const { errors } = await runtime.ask('gate_probe', { verb: 'push' });
      await runtime.dispose();
      return errors[0]?.message;
    };
    assert.equal(await push(`version: 1\n${BUILD}\n`), undefined);
    const stricter = `version: 1\n${registry('{build: sh build.sh --strict}')}\n`;
    repository.write({ 'ran.log': null });
    assert.equal(await push(stricter), undefined);
    assert.equal(existsSync(repository.path('ran.log')), true);
    repository.dispose();
    rmSync(state, { recursive: true, force: true });
  });

  test('it is not started when a cheaper rule has stopped the commit already [S0-64] (deep)', async () => {
    const text = 'validators: [{rule: build.must.pass}, {rule: code.todo.blockers}]\ncommands: {build: sh build.sh}';
    await withGate({ registry: text, files: files('true') }, async (gate) => {
      gate.stage({ 'a.txt': 'TODO\n' });
      assert.equal((await gate.ask()).error?.details?.['rule'], 'code.todo.blockers');
      assert.equal(existsSync(gate.repository.path('ran.log')), false);
      gate.stage({ 'a.txt': 'done\n' });
      assert.equal((await gate.ask()).ok, true);
      assert.equal(existsSync(gate.repository.path('ran.log')), true);
    });
  });
});
