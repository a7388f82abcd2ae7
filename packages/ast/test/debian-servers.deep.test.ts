/** gopls and clangd as Debian has them, in the sandbox: `scripts/setup-system` installs them. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { resolveProviders } from '../src/lsp/resolve-providers.ts';
import type { PlannedEdit } from '../src/lsp/workspace-edit.ts';
import { openScratchServers, type ScratchServers } from './scratch-servers.ts';

type Files = Readonly<Record<string, string>>;

const open = (t: TestContext, files: Files): ScratchServers =>
  openScratchServers(t, { isolation: 'bubblewrap', providers: resolveProviders(), files });

/** `path:line:character` of every edit, counted from 0. */
const placesOf = ({ files }: PlannedEdit): readonly string[] =>
  Object.entries(files)
    .flatMap(([path, edits]) => edits.map(({ startLine, startCharacter }) => `${path}:${startLine}:${startCharacter}`))
    .sort();

const filesOf = ({ files }: PlannedEdit): readonly string[] => Object.keys(files).sort();

const refusedBecause = (words: RegExp) => (thrown: unknown) => {
  assert.ok(isToolError(thrown));
  assert.deepEqual([thrown.code, thrown.details['reason']], ['E_AST_EDIT', 'server_refused']);
  assert.match(String(thrown.details['said']), words);
  return true;
};

describe('gopls in the sandbox', () => {
  const files = {
    'go.mod': 'module example.com/shop\n\ngo 1.19\n',
    'price/price.go': 'package price\n\nfunc Total(a int, b int) int {\n\treturn a + b\n}\n',
    'price/twice.go': 'package price\n\nfunc Twice(a int) int {\n\treturn Total(a, a)\n}\n',
    'main.go':
      'package main\n\nimport "example.com/shop/price"\n\nfunc main() {\n\tprintln(price.Total(1, 2), price.Twice(1))\n}\n',
  };
  const at = { path: 'price/price.go', line: 2, character: 6 };
  const uses = ['main.go:5:15', 'price/price.go:2:5', 'price/twice.go:3:8'];

  test('plans the rename of an exported function over files and packages [S0-54]', async (t) => {
    const { manager } = open(t, files);
    const server = await manager.serverFor(at.path);
    assert.equal(server.provider, 'gopls');
    const plan = await server.rename(at, 'Sum');
    assert.deepEqual(placesOf(plan), uses);
    assert.ok(
      Object.values(plan.files)
        .flat()
        .every(({ newText }) => newText === 'Sum'),
    );
    const found = await server.references(at);
    assert.deepEqual(
      found.map(({ path, startLine, startCharacter }) => `${path}:${startLine}:${startCharacter}`).sort(),
      uses,
    );
  });

  test('refuses a name that is invalid, is taken, or hides one that is in use [S0-54]', async (t) => {
    const { manager } = open(t, files);
    const server = await manager.serverFor(at.path);
    await assert.rejects(server.rename(at, '1st'), refusedBecause(/invalid identifier/));
    await assert.rejects(server.rename(at, 'func'), refusedBecause(/invalid identifier/));
    await assert.rejects(server.rename(at, 'Twice'), refusedBecause(/conflicts with/));
    await assert.rejects(server.rename(at, 'total'), refusedBecause(/unexported/));
    assert.deepEqual(placesOf(await server.rename(at, 'First')), uses);
  });

  test('knows a new file of a package when it is told, a new package when its file is opened [S0-54]', async (t) => {
    const { manager, write } = open(t, files);
    const server = await manager.serverFor(at.path);
    const known = filesOf(await server.rename(at, 'Sum'));
    write('price/thrice.go', 'package price\n\nfunc Thrice(a int) int {\n\treturn Total(a, Twice(a))\n}\n');
    assert.deepEqual(filesOf(await server.rename(at, 'Sum')), known, 'it was not told');
    await manager.changed([{ path: 'price/thrice.go', kind: 'created' }]);
    const more = [...known, 'price/thrice.go'].sort();
    assert.deepEqual(filesOf(await server.rename(at, 'Sum')), more);
    write('report/report.go', 'package report\n\nimport "example.com/shop/price"\n\nvar Sum = price.Total(3, 4)\n');
    await manager.changed([{ path: 'report/report.go', kind: 'created' }]);
    await server.warm(['report/report.go']);
    assert.deepEqual(filesOf(await server.rename(at, 'Sum')), [...more, 'report/report.go'].sort());
  });

  test('finds vendored modules without a network [S0-54]', async (t) => {
    const { manager } = open(t, {
      'go.mod': 'module example.com/shop\n\ngo 1.19\n\nrequire example.com/money v1.0.0\n',
      'vendor/modules.txt': '# example.com/money v1.0.0\n## explicit\nexample.com/money\n',
      'vendor/example.com/money/money.go': 'package money\n\nfunc Round(a int) int { return a }\n',
      'main.go': 'package main\n\nimport "example.com/money"\n\nfunc main() {\n\tprintln(money.Round(1))\n}\n',
    });
    const server = await manager.serverFor('main.go');
    const [meant] = await server.definition({ path: 'main.go', line: 5, character: 16 });
    assert.equal(meant?.path, 'vendor/example.com/money/money.go');
  });
});

describe('clangd in the sandbox', () => {
  const files = {
    'shape.h': '#ifndef SHAPE_H\n#define SHAPE_H\nint area(int width, int height);\n#endif\n',
    'shape.c': '#include "shape.h"\n\nint area(int width, int height) {\n  return width * height;\n}\n',
    'main.c': '#include "shape.h"\n\nint main(void) {\n  return area(2, 3);\n}\n',
  };
  const at = { path: 'shape.c', line: 2, character: 5 };
  const uses = ['main.c:3:9', 'shape.c:2:4', 'shape.h:2:4'];

  const openBuilt = (t: TestContext, given: Files): ScratchServers => {
    const scratch = open(t, given);
    const sources = Object.keys(given).filter((path) => /\.(c|cpp)$/.test(path));
    const commands = sources.map((file) => ({ directory: scratch.root, file, arguments: ['cc', '-c', file] }));
    scratch.write('compile_commands.json', JSON.stringify(commands));
    return scratch;
  };

  test('plans the rename of a function over a header and two sources [S0-54]', async (t) => {
    const { manager, root } = openBuilt(t, files);
    const server = await manager.serverFor(at.path);
    assert.equal(server.provider, 'clangd');
    assert.deepEqual(placesOf(await server.rename(at, 'surface')), uses);
    const found = await server.references(at);
    assert.deepEqual(
      found.map(({ path, startLine, startCharacter }) => `${path}:${startLine}:${startCharacter}`).sort(),
      uses,
    );
    await assert.rejects(server.rename(at, '1st'), refusedBecause(/not a valid identifier/));
    await assert.rejects(server.rename(at, 'int'), refusedBecause(/keyword/));
    // Its index would go into `.cache` of the workspace, which it sees read-only.
    assert.deepEqual(readdirSync(root).sort(), [...Object.keys(files), 'compile_commands.json'].sort());
  });

  test('answers only when it has read the whole project, also when started again [S0-54]', async (t) => {
    const many = Array.from({ length: 40 }, (_, index) => {
      const text = `#include "shape.hpp"\n\nint use${index}() { return shape::area(${index}, 2); }\n`;
      return [`use${index}.cpp`, text] as const;
    });
    const { manager } = openBuilt(t, {
      'shape.hpp': '#pragma once\nnamespace shape {\nint area(int width, int height);\n}\n',
      'shape.cpp': '#include "shape.hpp"\n\nint shape::area(int width, int height) { return width * height; }\n',
      ...Object.fromEntries(many),
    });
    const server = await manager.serverFor('shape.cpp');
    const method = { path: 'shape.cpp', line: 2, character: 12 };
    const wanted = ['shape.cpp', 'shape.hpp', ...many.map(([path]) => path)].sort();
    assert.deepEqual(filesOf(await server.rename(method, 'surface')), wanted);
    await server.stop();
    assert.deepEqual(filesOf(await server.rename(method, 'surface')), wanted);
    assert.equal(server.generation, 2);
  });

  test('knows a file that came or changed when it is opened [S0-54]', async (t) => {
    const { manager, write } = openBuilt(t, files);
    const server = await manager.serverFor(at.path);
    assert.deepEqual(placesOf(await server.rename(at, 'surface')), uses);
    write('extra.c', '#include "shape.h"\n\nint more(void) {\n  return area(4, 5);\n}\n');
    write('main.c', '#include "shape.h"\n\nint main(void) {\n  return area(2, 3) +\n    area(4, 5);\n}\n');
    assert.deepEqual(placesOf(await server.rename(at, 'surface')), uses, 'nobody said so');
    await manager.changed([
      { path: 'extra.c', kind: 'created' },
      { path: 'main.c', kind: 'changed' },
    ]);
    await server.warm(['extra.c', 'main.c']);
    const wanted = [...uses, 'extra.c:3:9', 'main.c:4:4'].sort();
    // It reads opened files on the side and does not say when it is done.
    const plan = await server.rename(at, 'surface', {
      probe: async (queries) => (await queries.references(at)).length === wanted.length,
    });
    assert.deepEqual(placesOf(plan), wanted);
  });
});
