import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openScratchServers } from '../../test/scratch-servers.ts';
import { newDiagnostics } from './diagnostic-store.ts';
import type { ReadyProbe } from './language-server.ts';
import { resolveProviders } from './resolve-providers.ts';

describe('TypeScript 7 in the sandbox', () => {
  const files = {
    'tsconfig.json': '{ "compilerOptions": { "strict": true, "allowImportingTsExtensions": true, "noEmit": true } }',
    'src/a.ts': 'export function load(x: number): string {\n  return String(x);\n}\n',
    'src/b.ts':
      "import { load } from './a.ts';\nexport const ä = load(1);\nexport const z = new Map<string, number>();\n",
  };
  const at = { path: 'src/a.ts', line: 0, character: 17 };

  test('plans a whole rename at once, and knows a new file when it is told [S0-54] (deep)', async (t) => {
    const { manager, write } = openScratchServers(t, { isolation: 'bubblewrap', providers: resolveProviders(), files });
    const server = await manager.serverFor(at.path);
    assert.equal(server.provider, 'typescript');
    const place = (line: number, from: number) => ({
      startLine: line,
      startCharacter: from,
      endLine: line,
      endCharacter: from + 4,
      newText: 'read',
    });
    const { files: edits } = await server.rename(at, 'read');
    assert.deepEqual({ ...edits }, { 'src/a.ts': [place(0, 16)], 'src/b.ts': [place(0, 9), place(1, 17)] });
    write('src/c.ts', "import { load } from './a.ts';\nload(3);\n");
    await manager.changed([{ path: 'src/c.ts', kind: 'created' }]);
    const after = await server.rename(at, 'read');
    assert.deepEqual(Object.keys(after.files).sort(), ['src/a.ts', 'src/b.ts', 'src/c.ts']);
  });

  test('answers questions without naming places of the host [S0-56] (deep)', async (t) => {
    const { manager, root } = openScratchServers(t, { isolation: 'bubblewrap', providers: resolveProviders(), files });
    const server = await manager.serverFor(at.path);
    const places = await server.references(at);
    assert.deepEqual([...new Set(places.map(({ path }) => path))].sort(), ['src/a.ts', 'src/b.ts']);
    const library = await server.definition({ path: 'src/b.ts', line: 2, character: 22 });
    assert.ok(library.length > 0);
    for (const { path } of library) assert.match(path, /^external:[0-9a-f]{12}\/lib\./);
    assert.match((await server.hover(at))?.text ?? '', /function load\(x: number\): string/);
    const symbols = await server.documentSymbol('src/a.ts');
    assert.deepEqual(
      symbols.map(({ name }) => name),
      ['load'],
    );
    const position = { line: at.line, character: at.character };
    const raw = await server.raw('textDocument/references', {
      textDocument: { uri: 'src/a.ts' },
      position,
      context: { includeDeclaration: false },
    });
    assert.ok(!JSON.stringify([raw, library, await server.workspaceSymbol('load')]).includes(root));
  });

  test('says what an edit broke (deep)', async (t) => {
    const { manager, write } = openScratchServers(t, { isolation: 'bubblewrap', providers: resolveProviders(), files });
    const server = await manager.serverFor('src/b.ts');
    const before = await server.diagnostics('src/b.ts');
    assert.equal(before.isReported, true);
    write('src/a.ts', 'export function load(x: string): string {\n  return x;\n}\n');
    await manager.changed([{ path: 'src/a.ts', kind: 'changed' }]);
    const after = await server.diagnostics('src/b.ts');
    assert.deepEqual(
      newDiagnostics(before.diagnostics, after.diagnostics).map(({ code, startLine }) => [code, startLine]),
      [['2345', 1]],
    );
  });
});

describe('Pyright in the sandbox', () => {
  const files = {
    'pyproject.toml': '',
    'a.py': 'def load(x: int) -> str:\n    return str(x)\n',
    'b.py': 'from a import load\n\nload(1)\n',
  };
  const at = { path: 'a.py', line: 0, character: 5 };

  test('plans a whole rename although its first answer would be partial, also after a file came [S0-54]', async (t) => {
    const { manager, write } = openScratchServers(t, { isolation: 'bubblewrap', providers: resolveProviders(), files });
    const server = await manager.serverFor(at.path);
    assert.equal(server.provider, 'pyright');
    assert.deepEqual(Object.keys((await server.rename(at, 'read')).files).sort(), ['a.py', 'b.py']);
    write('c.py', 'from a import load\n\nload(3)\n');
    await manager.changed([{ path: 'c.py', kind: 'created' }]);
    // On a busy machine its log says that it is done before it has read the new file.
    const probe: ReadyProbe = async (queries) => (await queries.references(at)).some(({ path }) => path === 'c.py');
    const { files: planned } = await server.rename(at, 'read', { probe });
    assert.deepEqual(Object.keys(planned).sort(), ['a.py', 'b.py', 'c.py']);
  });
});
