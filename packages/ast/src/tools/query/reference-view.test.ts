/** Uses of members, without a server and with each of the real ones. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CodeRuntime, openCodeRuntime } from '../../../test/code-runtime.ts';

const PROGRAMS = { programs: true, registry: 'side_effect_level: process_exec\nisolation: none' } as const;

interface Answer {
  readonly references: readonly {
    readonly file: string;
    readonly line: number;
    readonly col?: number;
    readonly kind: string;
  }[];
  readonly confidence: string;
  readonly left_out?: readonly string[];
}

const uses = (code: CodeRuntime, where: object) => code.ask<Answer>('ast_query', { view: 'references', where });
const places = ({ references }: Answer) => references.map(({ file, line, col }) => `${file}:${line}:${col}`);
const start = (code: CodeRuntime, provider: string, uri: string) =>
  code.ask('ast_external', { provider, request: { method: 'textDocument/documentSymbol', params: { uri } } });

const SHOP = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true }, "include": ["src"] }\n',
  'src/shop.ts': 'export class Cart {\n  total = 0;\n  add(n: number): void {\n    this.total += n;\n  }\n}\n',
  'src/other.ts': 'export class Tally {\n  total = 0;\n}\nexport const t = new Tally().total;\n',
  'src/use.ts':
    "import { Cart } from './shop';\nconst cart = new Cart();\ncart.add(1);\n// total of the cart\nexport const { total } = cart;\n",
  // Not in the project that the server loads first.
  'test/cart.ts': "import { Cart } from '../src/shop';\nconst one = new Cart();\none.total;\n",
};
const TOTAL = { name_like: 'total', container: 'Cart' };

describe('ast_query, references of members', () => {
  test('without a server every place with the name, and a word on what was not looked at', async () => {
    await using code = await openCodeRuntime(SHOP);
    const found = await uses(code, TOTAL);
    assert.equal(found.confidence, 'name');
    assert.deepEqual(places(found), [
      'src/other.ts:2:3',
      'src/other.ts:4:30',
      'src/shop.ts:4:10',
      'src/use.ts:5:16',
      'test/cart.ts:3:5',
    ]);
    assert.match(found.left_out?.join('\n') ?? '', /No language server runs for src\/shop\.ts .*provider typescript/);
    assert.match(found.left_out?.join('\n') ?? '', /matched by name alone/);
    const several = await uses(code, { name_like: 'total' });
    assert.match(several.left_out?.join('\n') ?? '', /Only calls, instantiations and macros .* 3 declarations fit/);
    const function_ = await uses(code, { name_like: 'Cart' });
    assert.deepEqual([function_.confidence, function_.left_out], ['resolver', undefined]);
  });

  test('a file that cannot be parsed is named', async () => {
    await using code = await openCodeRuntime({ ...SHOP, 'src/binary.ts': 'total\0\0\0' });
    const found = await uses(code, TOTAL);
    assert.match(found.left_out?.join('\n') ?? '', /could not be parsed: src\/binary\.ts/);
  });

  test('TypeScript 7: only those of the member, also in another project and after a change (deep)', async () => {
    await using code = await openCodeRuntime(SHOP, PROGRAMS);
    await start(code, 'typescript', 'src/shop.ts');
    const found = await uses(code, TOTAL);
    assert.deepEqual(
      [found.confidence, found.left_out, places(found)],
      ['server', undefined, ['src/shop.ts:4:10', 'src/use.ts:5:16', 'test/cart.ts:3:5']],
    );
    await code.ask('file_write', {
      path: 'src/use.ts',
      content: "import { Cart } from './shop';\nnew Cart().total;\n",
    });
    assert.deepEqual(places(await uses(code, TOTAL)), ['src/shop.ts:4:10', 'src/use.ts:2:12', 'test/cart.ts:3:5']);
  });

  test('a session that leaves a provider of its host out asks no server, its host does (deep)', async () => {
    const registry = `${PROGRAMS.registry}\nproviders: {semgrep: {enabled: false}}`;
    await using code = await openCodeRuntime(SHOP, { programs: true, registry });
    await start(code, 'typescript', 'src/shop.ts');
    const narrow = await code.runtime.openSession({
      registry: { file: 's.yaml', text: 'version: 1\nisolation: none\nside_effect_level: process_exec\n' },
    });
    const { data } = await narrow.call('ast_query' as string, { view: 'references', where: TOTAL });
    assert.equal((data as unknown as Answer).confidence, 'name');
    assert.equal((await uses(code, TOTAL)).confidence, 'server');
  });

  const LANGUAGES = [
    {
      provider: 'pyright',
      files: {
        'pyproject.toml': '[project]\nname = "shop"\nversion = "1"\n',
        'shop.py':
          'class Cart:\n    def total(self) -> int:\n        return 1\n\n\nclass Other:\n    def total(self) -> int:\n        return 2\n',
        'use.py': 'from shop import Cart, Other\n\nCart().total()\nOther().total()\nread = Cart().total\n',
      },
      where: { name_like: 'total', container: 'Cart' },
      expected: ['use.py:3:8', 'use.py:5:15'],
    },
    {
      provider: 'gopls',
      files: {
        'go.mod': 'module example.com/shop\n\ngo 1.19\n',
        'shop.go':
          'package shop\n\ntype Cart struct{ Sum int }\n\nfunc (c Cart) Total() int { return c.Sum }\n\ntype Other struct{ Sum int }\n\nfunc (o Other) Total() int { return o.Sum }\n',
        'use.go': 'package shop\n\nfunc Use() int {\n\treturn Cart{}.Total() + Other{}.Total()\n}\n',
      },
      where: { name_like: 'Total', container: 'Cart' },
      expected: ['use.go:4:16'],
    },
    {
      provider: 'clangd',
      files: {
        'shop.hpp': '#pragma once\nstruct Cart { int total; };\nstruct Other { int total; };\n',
        'use.cpp': '#include "shop.hpp"\nint use(Cart a, Other b) {\n  return a.total + b.total;\n}\n',
      },
      where: { name_like: 'total', container: 'Cart' },
      expected: ['use.cpp:3:12'],
    },
  ] as const;
  for (const { provider, files, where, expected } of LANGUAGES) {
    test(`${provider}: only those of the member (deep)`, async () => {
      await using code = await openCodeRuntime(files, PROGRAMS);
      // clangd reads the sources that this file names, by absolute path.
      const command = { directory: code.workspace, file: 'use.cpp', arguments: ['c++', '-c', 'use.cpp'] };
      if (provider === 'clangd') code.write({ 'compile_commands.json': JSON.stringify([command]) });
      const [first = ''] = Object.keys(files).filter((path) => /\.(py|go|cpp)$/.test(path));
      await start(code, provider, first);
      const found = await uses(code, where);
      assert.deepEqual([found.confidence, places(found)], ['server', expected]);
    });
  }
});
