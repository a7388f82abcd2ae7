import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inForce, withGate } from '../../test/gate-probe.ts';

const registry = inForce('code.todo.blockers');

describe('code.todo.blockers [S0-65]', () => {
  const marked = ['// TODO: later', '# FIXME', 'x = 1 /* TODO(ada) */', 'a TODO', '-- FIXME!', 'ünTODO? no, but TODO.'];
  const unmarked = [
    '// todo',
    'TODOS',
    'TODO_LIST = 1',
    'myTODO',
    'XXX hack',
    'aFIXME2',
    'ÄTODO',
    'const todoList = []',
  ];

  test('finds marks as words of their own, and nothing that only looks alike [S0-65] (deep)', async () => {
    await withGate({ registry, files: { 'a.txt': 'x\n' } }, async (gate) => {
      for (const line of unmarked) {
        gate.stage({ 'a.txt': `x\n${line}\n` });
        assert.equal((await gate.ask()).error?.message, undefined, line);
      }
      for (const line of marked) {
        gate.stage({ 'a.txt': `x\n${line}\n` });
        assert.match(String((await gate.ask()).error?.message), /^(TODO|FIXME) on a protected branch: a\.txt:2$/, line);
      }
    });
  });

  test('looks at added lines only: what stood there before, moved along or went away is passed over [S0-65]', async () => {
    const old = `one\n// TODO old\n${'line\n'.repeat(20)}`;
    await withGate({ registry, files: { 'a.ts': old, 'b.ts': old } }, async (gate) => {
      gate.stage({ 'a.ts': `new first line\n${old}new last line\n` });
      assert.equal((await gate.ask()).ok, true);
      gate.stage({ 'b.ts': null, 'moved/b.ts': `${old}more\n` });
      assert.equal((await gate.ask()).error, undefined);
      gate.stage({ 'moved/b.ts': `${old}more\n// FIXME new\n` });
      const { error } = await gate.ask();
      assert.equal(error?.path, 'moved/b.ts');
      assert.equal(error?.details?.['line'], 24);
      assert.equal(error?.details?.['mark'], 'FIXME');
    });
  });

  test('holds on protected branches, by name or glob, and neither elsewhere nor on a detached HEAD [S0-65] (deep)', async () => {
    const text = `${registry}\nprotected_branches: [main, "release/*"]`;
    await withGate({ registry: text, files: { 'a.txt': 'x\n' } }, async (gate) => {
      gate.stage({ 'a.txt': 'TODO\n' });
      assert.equal((await gate.ask()).ok, false);
      for (const [branch, ok] of [
        ['feature', true],
        ['release/1', false],
        ['release/2/x', true],
        ['main2', true],
      ] as const) {
        gate.repository.git('checkout', '--quiet', '-b', branch);
        assert.equal((await gate.ask()).ok, ok, branch);
      }
      gate.repository.git('checkout', '--quiet', '--detach');
      assert.equal((await gate.ask()).ok, true);
    });
  });

  test('4.16 a pass on a feature branch does not count on the protected branch that gets the same tree', async () => {
    await withGate({ registry, files: { 'a.txt': 'x\n' } }, async (gate) => {
      gate.repository.git('checkout', '--quiet', '-b', 'feature');
      gate.stage({ 'a.txt': 'TODO\n' });
      assert.equal((await gate.ask()).ok, true);
      gate.repository.git('commit', '--quiet', '-m', 'x');
      assert.equal((await gate.ask({ verb: 'push' })).ok, true);
      gate.repository.git('checkout', '--quiet', 'main');
      gate.repository.git('merge', '--quiet', '--ff-only', 'feature');
      assert.match(String((await gate.ask({ verb: 'push' })).error?.message), /^TODO on a protected branch/);
    });
  });

  test('an attribute that calls a source binary hides nothing, and binary files are not searched [S0-65]', async () => {
    await withGate(
      { registry, files: { '.gitattributes': '*.ts -diff\n*.js binary\n', 'a.ts': 'x\n' } },
      async (gate) => {
        gate.stage({ 'picture.png': Buffer.from('\x89PNG\0\0\0\x01 TODO \0\xff\xfe', 'latin1') });
        assert.equal((await gate.ask()).ok, true);
        gate.stage({ 'a.ts': 'x\n// TODO\n', 'b.js': 'FIXME\n' });
        const violations = (await gate.ask()).error?.details?.['violations'] as { path: string; line: number }[];
        assert.deepEqual(
          violations.map(({ path, line }) => `${path}:${line}`),
          ['a.ts:2', 'b.js:1'],
        );
      },
    );
  });

  test('works before the first commit, with odd names, several encodings and links [S0-65]', async () => {
    await withGate({ registry }, async (gate) => {
      gate.stage({ 'TODO.md': 'nothing\n', 'go to TODO': { link: 'TODO' } });
      assert.equal((await gate.ask()).error, undefined);
      gate.stage({
        'ein "name"\twith\nall ü.txt': 'x\r\nTODO\r\n',
        'utf16.txt': Buffer.from('\ufeffx\nFIXME\n', 'utf16le'),
        'latin1.txt': Buffer.from('caf\xe9\nTODO\n', 'latin1'),
      });
      const violations = (await gate.ask()).error?.details?.['violations'] as { path: string; line: number }[];
      assert.deepEqual(
        violations.map(({ path, line }) => `${path}:${line}`),
        ['ein "name"\twith\nall ü.txt:2', 'latin1.txt:2', 'utf16.txt:2'],
      );
    });
  });

  test('at warning level the commit goes on with the finding named [S0-72]', async () => {
    await withGate({ registry: inForce('code.todo.blockers', 'warning'), files: {} }, async (gate) => {
      gate.stage({ 'a.txt': 'TODO\n' });
      const { ok, warnings } = await gate.ask();
      assert.equal(ok, true);
      assert.equal(warnings[0]?.message, 'TODO on a protected branch: a.txt:1');
    });
  });
});
