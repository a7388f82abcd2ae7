/** Runs every example of docs/tools.md, those of a tool one after the other in a workspace of their own. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { createAst } from '../../packages/ast/src/create-ast.ts';
import { type CodeRuntime, openCodeRuntime } from '../../packages/ast/test/code-runtime.ts';
import type { AnyTool } from '../../packages/sdk/src/contracts/tool.ts';
import * as catalog from '../../packages/sdk/src/tools/catalog.ts';
import { TOOL_EXAMPLES } from './tool-examples.ts';

const FILES = {
  'README.md': '# Demo\n\nTODO: write more.\n',
  'notes.txt': 'zero\ntwo\nthree\n',
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "allowImportingTsExtensions": true } }\n',
  'src/sum.ts':
    '/** Adds. */\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n\nexport class Box {\n  value: number = 1;\n}\n',
  'src/main.ts': "import { add } from './sum.ts';\n\nconsole.log(add(1, 2));\n",
};

/** Two branches beside main, one of which conflicts with it, and a remote that has main. */
function addHistory({ git, write, workspace }: CodeRuntime): void {
  const remote = join(workspace, '..', 'remote.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', remote]);
  git('branch', '-M', 'main');
  for (const [branch, files] of Object.entries({
    feature: { 'feature.txt': 'feature\n' },
    conflicting: { 'notes.txt': 'eins\ntwo\nthree\n' },
  })) {
    git('checkout', '-q', '-b', branch, 'main');
    write(files);
    git('add', '-A');
    git('commit', '-q', '-m', `Work on ${branch}`);
  }
  git('checkout', '-q', 'main');
  write({ 'notes.txt': 'one\ntwo\nthree\n' });
  git('commit', '-q', '-a', '-m', 'Begin with one');
  git('remote', 'add', 'origin', remote);
  git('push', '-q', '-u', 'origin', 'main');
}

/** Strings of answers by their key, the latest first. */
function collect(value: JsonValue, seen: Map<string, string>): void {
  if (Array.isArray(value)) for (const inner of value.toReversed()) collect(inner, seen);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner !== 'string') collect(inner, seen);
      else seen.set(inner.startsWith('artifact:') ? 'artifact' : key, inner);
    }
  }
}

function filled<T extends JsonValue>(value: T, seen: ReadonlyMap<string, string>): T {
  const text = JSON.stringify(value).replace(/<(\w+)>/g, (_, name: string) => {
    const found = seen.get(name);
    assert.ok(found !== undefined, `no answer has ${name}`);
    return found;
  });
  return JSON.parse(text) as T;
}

describe('the examples of docs/tools.md (deep)', () => {
  const server = createServer((_, response) => response.end('fine\n'));
  before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  after(() => server.close());

  const names = [...Object.values<AnyTool>(catalog), ...createAst().tools].map(({ name }) => name);
  for (const tool of names.sort()) {
    const examples = TOOL_EXAMPLES[tool] ?? [];
    test(`of ${tool} work as they stand`, async () => {
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const registry = [
        'side_effect_level: network',
        `network: { allowed_domains: ['${host}'] }`,
        'git: { allow_push: true }',
        "shell_allow: ['^echo ', '^cat$', '^seq ', '^sleep ', '^touch ']",
        'tools: { ast_edit: { timeout_ms: 300000 }, ast_external: { timeout_ms: 300000 } }',
      ].join('\n');
      await using code = await openCodeRuntime(FILES, { git: true, programs: tool.startsWith('ast_'), registry });
      addHistory(code);
      const seen = new Map([['host', host]]);
      for (const { says, args, first = [] } of examples) {
        for (const [name, given] of first) {
          collect((await code.session.call(name, filled(given as JsonObject, seen))).data, seen);
        }
        const { ok, errors, data } = await code.session.call(tool, filled(args, seen));
        assert.ok(ok, `${says}: ${JSON.stringify(errors)}`);
        collect(data, seen);
      }
    });
  }
});
