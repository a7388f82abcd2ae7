import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { readMarked } from '../../test/scope/marked-project.ts';
import { createEngine } from '../symbols/engine.ts';
import { findReferences } from './find-references.ts';

const engine = createEngine();
after(() => engine.delete());

async function references(marked: Readonly<Record<string, string>>, withAliases = false): Promise<string[]> {
  const { files, target, texts } = readMarked(marked, '');
  const found = await findReferences({ files, engine, target, withAliases });
  assert.equal(found.refused, undefined);
  return found.references.map(({ path, name, start, end, line, col, role }) => {
    assert.equal(
      Buffer.from(texts[path] ?? '')
        .subarray(start, end)
        .toString(),
      name,
    );
    if (!withAliases) assert.equal(name, target.name);
    return `${path}:${line}:${col} ${role}`;
  });
}

describe('findReferences', () => {
  test('lists definitions, imports, uses and what is passed on [S0-54]', async () => {
    assert.deepEqual(
      await references({
        'a.ts': 'export const «*x» = 1;\n({ x });\n',
        'b.ts': "export { x } from './a.ts';\n",
        'c.ts': "import { x } from './b.ts';\nx;\n",
        'd.ts': "import { x as y } from './a.ts';\ny;\n",
        'e.ts': 'const x = 1;\nx;\n',
      }),
      [
        'a.ts:1:14 definition',
        'a.ts:2:4 shorthand',
        'b.ts:1:10 export',
        'c.ts:1:10 import',
        'c.ts:2:1 reference',
        'd.ts:1:10 import',
      ],
    );
  });

  test('follows default exports, aliases and what passes them on', async () => {
    assert.deepEqual(
      await references(
        {
          'a.ts': 'export default function «*main»() {}\n',
          'b.ts': "import m from './a.ts';\nm();\n",
          'c.ts': "import main from './a.ts';\nmain();\n",
          'd.ts': "export { default as go } from './a.ts';\n",
          'e.ts': "import { go as start } from './d.ts';\nstart();\n",
          'f.ts': "import { default as other } from './a.ts';\nother;\n",
          'g.ts': 'const m = 1;\nm;\n',
        },
        true,
      ),
      [
        'a.ts:1:25 definition',
        'b.ts:1:8 import',
        'b.ts:2:1 reference',
        'c.ts:1:8 import',
        'c.ts:2:1 reference',
        'd.ts:1:10 export',
        'e.ts:1:16 import',
        'e.ts:2:1 reference',
        'f.ts:1:10 import',
        'f.ts:1:21 import',
        'f.ts:2:1 reference',
      ],
    );
  });

  test('follows aliases of Python', async () => {
    assert.deepEqual(
      await references(
        { 'a.py': 'def «*f»(): ...\n', 'b.py': 'from a import f as g\ng()\n', 'c.py': 'from b import g as h\nh()\n' },
        true,
      ),
      [
        'a.py:1:5 definition',
        'b.py:1:15 import',
        'b.py:1:20 import',
        'b.py:2:1 reference',
        'c.py:1:20 import',
        'c.py:2:1 reference',
      ],
    );
  });

  test('finds nothing but the definition of what is not used', async () => {
    assert.deepEqual(await references({ 'a.py': 'def «*f»(): ...\n', 'b.py': 'def f(): ...\nf()\n' }), [
      'a.py:1:5 definition',
    ]);
  });

  test('says that it may have missed some when a file does not parse', async () => {
    const { files, target } = readMarked({ 'a.ts': 'export const «*x» = 1;\n', 'b.ts': 'x; function (' }, '');
    const found = await findReferences({ files, engine, target });
    assert.equal(found.refused?.reason, 'parse_error');
    assert.equal(found.references.length, 1);
  });

  test('refuses members', async () => {
    const { files, target } = readMarked({ 'a.ts': 'class A { «*m»() {} }\n' }, '');
    assert.equal((await findReferences({ files, engine, target })).refused?.reason, 'needs_server');
  });
});
