import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkArchitecturePage } from './architecture-page.ts';
import { readTree } from './read-tree.ts';

const PAGE = `# Architecture

   execute-tool      runs it

Text about \`take-back\`.

| folder of \`packages/sdk/src\` | owns |
|---|---|
| \`call/\` | the path |
| \`platform/files/\` | files |
| \`platform/\` | the system |
`;
const FILES = ['call/pipeline.ts', 'call/execute-tool.ts', 'call/take-back.ts', 'platform/files/read.ts'];

function findings(t: TestContext, page: string, files: readonly string[]): string[] {
  const root = mkdtempSync(join(tmpdir(), 'architecture-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const planted = files.map((file): [string, string] => [`packages/sdk/src/${file}`, 'export {};\n']);
  for (const [file, text] of [['docs/architecture.md', page] as const, ...planted]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return checkArchitecturePage(readTree(root)).map(({ what }) => what);
}

test('a page that names every folder and stage passes', (t) => {
  assert.deepEqual(findings(t, PAGE, FILES), []);
});

test('a folder or stage that is missing on the page is found', (t) => {
  assert.deepEqual(findings(t, PAGE, [...FILES, 'call/new-stage.ts', 'shell/parse.ts']), [
    'packages/sdk/src/shell is not on the page',
    'The stage new-stage is not on the page',
  ]);
});

test('a folder or stage that is gone is found', (t) => {
  assert.deepEqual(findings(t, PAGE, ['call/pipeline.ts', 'call/take-back.ts', 'platform/other.ts']), [
    'packages/sdk/src has no folder platform/files',
    'packages/sdk/src/call has no stage execute-tool',
  ]);
});
