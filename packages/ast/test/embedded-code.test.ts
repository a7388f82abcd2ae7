/** Scripts and styles inside of HTML, by the languages they are written in. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openCodeRuntime } from './code-runtime.ts';

const PAGE = `<!DOCTYPE html>
<html>
<head>
  <title>Größe 📐</title>
  <style>
    .card { color: red }
  </style>
  <script type="module">
    import { load } from './load.js';
    export function start() {
      load();
    }
  </script>
  <script lang="ts">
    function start(at: number): void {}
  </script>
  <script type="importmap">{ "imports": {} }</script>
  <script type="text/x-template"><b id="not-code"></b> function no() {}</script>
</head>
<body><main id="main"><script>class Menu { open() {} }</script></main></body>
</html>
`;

interface Answer {
  readonly nodes: readonly {
    readonly id: string;
    readonly type: string;
    readonly name: string;
    readonly container?: string;
    readonly line: number;
    readonly end_line: number;
    readonly depth?: number;
    readonly source?: string;
  }[];
  readonly references?: readonly { readonly line: number }[];
  readonly imports?: readonly { readonly source: string; readonly line: number }[];
}

describe('code inside of HTML', () => {
  test('is outlined and found at its own places', async () => {
    await using code = await openCodeRuntime({ 'page.html': PAGE });
    const outline = await code.ask<Answer>('ast_query', { view: 'outline', where: { file_glob: 'page.html' } });
    assert.deepEqual(
      outline.nodes.map(({ type, name, line, end_line, depth }) => [type, name, line, end_line, depth]),
      [
        ['rule', '.card', 6, 6, 0],
        ['fn', 'start', 10, 12, 0],
        ['fn', 'start', 15, 15, 0],
        ['key', 'imports', 17, 17, 0],
        ['element', 'main', 20, 20, 0],
        ['class', 'Menu', 20, 20, 1],
        ['method', 'open', 20, 20, 2],
      ],
    );
    assert.equal(new Set(outline.nodes.map(({ id }) => id)).size, outline.nodes.length);
    const found = await code.ask<Answer>('ast_query', { view: 'source', where: { name_like: 'start' } });
    assert.deepEqual(
      found.nodes.map(({ source }) => source),
      ['export function start() {\n      load();\n    }', 'function start(at: number): void {}'],
    );
    const [open] = (await code.ask<Answer>('ast_query', { where: { name_like: 'open' } })).nodes;
    assert.equal(open?.container, 'main.Menu');
    const { imports } = await code.ask<Answer>('ast_query', { view: 'imports', where: { file_glob: 'page.html' } });
    assert.deepEqual(
      imports?.map(({ source, line }) => [source, line]),
      [['./load.js', 9]],
    );
  });

  test('that is broken is refused with its own line, and one with places for a template is not', async () => {
    const registry = 'validators: [{rule: code.ast.parsed, enforcement: blocking}]';
    await using code = await openCodeRuntime({ 'page.html': PAGE }, { registry });
    const edit = { path: 'page.html', old: 'load();\n    }', new: 'load(;\n    }' };
    const refused = await code.refusal('file_edit', edit);
    assert.equal(refused.code, 'E_AST_PARSE');
    assert.match(JSON.stringify(refused), /"line":11/);
    assert.equal(code.read('page.html'), PAGE);
    await code.ask('file_edit', { ...edit, new: 'load({{ page }});\n    }' });
    await code.ask('file_edit', { path: 'page.html', old: 'color: red', new: 'color: blue' });
    const changed = PAGE.replace('load();', 'load({{ page }});').replace('red', 'blue');
    assert.equal(code.read('page.html'), changed, 'every other byte is as it was');
    const style = await code.refusal('file_write', {
      path: 'new.html',
      content: '<style>\n.a { color: } }\n</style>\n',
    });
    assert.match(JSON.stringify(style), /"line":2/);
  });

  test('is edited as text: operations on syntax name the lines', async () => {
    await using code = await openCodeRuntime({ 'page.html': PAGE });
    const error = await code.refusal('ast_edit', { operation: 'delete_symbol', file: 'page.html', name: 'Menu' });
    assert.deepEqual([error.details?.['reason'], error.details?.['line']], ['embedded_code', 20]);
    const [node] = (await code.ask<Answer>('ast_query', { where: { name_like: 'Menu' } })).nodes;
    const byId = await code.refusal('ast_edit', { operation: 'set_doc', target_node_id: node?.id, text: 'Menus.' });
    assert.equal(byId.details?.['reason'], 'embedded_code');
    await code.ask('ast_edit', { operation: 'set_doc', file: 'page.html', name: 'main', text: 'The page.' });
    assert.match(code.read('page.html'), /<!-- The page\. -->/);
  });
});
