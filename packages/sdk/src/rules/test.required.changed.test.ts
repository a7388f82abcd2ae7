import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inForce, withGate } from '../../test/gate-probe.ts';
import type { FileSet } from '../../test/git-repository.ts';
import { exampleTest, judgeFile } from './find-untested.ts';

const registry = inForce('test.required.changed');
const BASE: FileSet = {
  'src/a.ts': 'export const a = 1;\nexport const b = 2;\n',
  'src/lib.rs': 'pub fn one() {}\n',
  'src/a.test.ts': 'test("a");\ntest("b");\n',
  'README.md': 'x\n',
};

async function verdict(changed: FileSet, text = registry): Promise<string> {
  let answer = '';
  await withGate({ registry: text, files: BASE }, async (gate) => {
    gate.stage(changed);
    answer = (await gate.ask()).error?.message ?? 'ok';
  });
  return answer;
}

describe('test.required.changed [S0-66]', () => {
  const passes: Readonly<Record<string, FileSet>> = {
    'code with a test': { 'src/a.ts': 'export const a = 2;\n', 'src/a.test.ts': 'test("a2");\n' },
    'a new test of another language': { 'src/a.ts': 'export const a = 2;\n', 'tests/it.py': 'assert 1\n' },
    'no code at all': { 'README.md': 'y\n', 'data.json': '{}\n', 'vite.config.ts': 'export {}\n' },
    declarations: { 'src/a.d.ts': 'export const a: number;\n' },
    'code that goes away': { 'src/a.ts': null },
    'lines that go away': { 'src/a.ts': 'export const a = 1;\n' },
    'code that moves': { 'src/a.ts': null, 'lib/a.ts': 'export const a = 1;\nexport const b = 2;\n' },
    'a mode': { 'src/a.ts': { text: 'export const a = 1;\nexport const b = 2;\n', mode: 0o755 } },
    'empty lines': { 'src/a.ts': 'export const a = 1;\n\n\nexport const b = 2;\n' },
    'a Rust test in the same file': {
      'src/lib.rs': 'pub fn one() {}\n#[cfg(test)]\nmod t {\n  #[test]\n  fn x() {}\n}\n',
    },
    'an async Rust test': { 'src/lib.rs': 'pub fn one() {}\n    #[tokio::test]\n    async fn x() {}\n' },
  };
  for (const [what, changed] of Object.entries(passes)) {
    test(`lets through: ${what} [S0-66] (deep)`, async () => assert.equal(await verdict(changed), 'ok'));
  }

  const refuses: Readonly<Record<string, readonly [FileSet, string]>> = {
    'code alone': [{ 'src/a.ts': 'export const a = 2;\n' }, 'src/a.ts'],
    'new code': [{ 'src/new.go': 'package x\n', 'README.md': 'y\n' }, 'src/new.go'],
    'code and a test that goes away': [{ 'src/a.ts': 'const c = 3;\n', 'src/a.test.ts': null }, 'src/a.ts'],
    'code and a test that loses lines': [{ 'src/a.ts': 'const c = 3;\n', 'src/a.test.ts': 'test("a");\n' }, 'src/a.ts'],
    'code and a text among tests': [{ 'src/a.ts': 'const c = 3;\n', 'tests/README.md': 'x\n' }, 'src/a.ts'],
    'Rust without a test in it': [{ 'src/lib.rs': 'pub fn two() {}\n// #[test] one day\n' }, 'src/lib.rs'],
    'code that moves and grows': [
      { 'src/a.ts': null, 'lib/a.ts': 'export const a = 1;\nexport const b = 2;\nexport const c = 3;\n' },
      'lib/a.ts',
    ],
  };
  for (const [what, [changed, path]] of Object.entries(refuses)) {
    test(`refuses: ${what} [S0-66]`, async () =>
      assert.equal(await verdict(changed), `Code changed without a test: ${path}`));
  }

  test('names the test files that would count and how to say that none is needed [S0-66] (deep)', async () => {
    await withGate({ registry, files: BASE }, async (gate) => {
      gate.stage({ 'src/a.ts': 'const c = 3;\n', 'pkg/b.go': 'package b\n' });
      const { error } = await gate.ask();
      assert.deepEqual(error?.details?.['would_count'], ['pkg/b_test.go', 'src/a.test.ts']);
      assert.match(String(error?.details?.['next']), /overrides/);
    });
  });

  test('an override with a reason lets the commit through and the answer repeats the reason [S0-66] (deep)', async () => {
    await withGate({ registry, files: BASE }, async (gate) => {
      gate.stage({ 'src/a.ts': 'const c = 3;\n' });
      assert.equal((await gate.ask({ overrides: { 'code.todo.blockers': 'another rule' } })).ok, false);
      const { ok, warnings } = await gate.ask({ overrides: { 'test.required.changed': 'generated code' } });
      assert.equal(ok, true);
      assert.equal(warnings[0]?.message, 'Passed over by the caller: Code changed without a test: src/a.ts');
      assert.equal(warnings[0]?.details?.['override'], 'generated code');
    });
  });

  test('test_globs of the registry add to what counts, whatever the file is [S0-66] (deep)', async () => {
    const changed = { 'src/a.ts': 'const c = 3;\n', 'checks/a.golden': 'x\n' };
    assert.match(await verdict(changed), /^Code changed/);
    assert.equal(await verdict(changed, `${registry}\ntest_globs: ["checks/**"]`), 'ok');
  });

  test('holds before the first commit and where attributes call sources binary [S0-66] (deep)', async () => {
    await withGate({ registry }, async (gate) => {
      gate.stage({ '.gitattributes': '* -diff\n', 'a.ts': 'x\n' });
      assert.equal((await gate.ask()).error?.path, 'a.ts');
      gate.stage({ 'a.spec.ts': 'x\n' });
      assert.equal((await gate.ask()).ok, true);
    });
  });
});

describe('conventions of languages [S0-66]', () => {
  const none = () => false;
  const tests =
    `a.test.ts x/a.spec.tsx __tests__/a.js cypress/a.cy.js a_test.go pkg/test_a.py a_test.py tests/a.rs src/a_test.rs
    src/test/java/A.java A/ATest.java ATests.java src/commonTest/a.kt ATest.kt ASpec.scala a_spec.rb spec/a.rb test/a_test.rb
    ATests.cs My.Tests/A.cs ATest.php Tests/A.swift ATests.swift a_test.cc a_unittest.cpp test_a.c test/a_test.dart
    test/a_test.exs ASpec.hs a_test.clj a_spec.lua test/runtests.jl`.split(/\s+/);
  const code =
    `a.ts src/contest.ts latest.ts attest/a.go testing.go a.py tested.py lib.rs A.java Testament/A.java a.kt A.cs a.rb
    src/attest.php A.swift a.cc test.c inspect.hs a.lua main.zig`.split(/\s+/);

  test('tests are known by their names and folders [S0-66]', () => {
    for (const path of tests) assert.equal(judgeFile(path, none).kind, 'test', path);
  });

  test('code is not taken for a test because a word of its name sounds alike [S0-66]', () => {
    for (const path of code) assert.equal(judgeFile(path, none).kind, 'code', path);
  });

  test('whatever is proposed as a test would count as one [S0-66]', () => {
    for (const path of code) {
      const example = exampleTest(path);
      assert.ok(example !== undefined && judgeFile(example, none).kind === 'test', `${path}: ${example}`);
    }
  });
});
