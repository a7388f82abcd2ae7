import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { API } from 'typescript/unstable/sync';
import { describeExports } from './api-pages.ts';

function describe(t: TestContext, files: Readonly<Record<string, string>>): string[] {
  const root = mkdtempSync(path.join(os.tmpdir(), 'api-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, name), text);
  const api = new API({ cwd: root });
  t.after(() => {
    api.close();
    rmSync(root, { recursive: true, force: true });
  });
  return describeExports(path.join(root, 'index.d.ts'), api);
}

test('every exported name is listed with its declaration, in order, wherever it was declared', (t) => {
  const declared = [
    'export declare function beta(one: string): void;',
    'export declare function beta(one: number): number;',
    'export interface Alpha {\n    /** A comment: "not" `part` of it. */\n    readonly one: "/* text */";\n}',
    'export declare class Delta {\n    #private;\n    private hidden;\n    two(): void;\n}',
    'export declare const gamma: 1;',
    'export interface NotListed {}',
  ];
  assert.deepEqual(
    describe(t, {
      'index.d.ts': "export { beta, type Alpha as First, Delta } from './parts.js';\nexport * from './more.js';\n",
      'more.d.ts': "export { gamma } from './parts.js';\nexport type Own = 1 | 2;\n",
      'parts.d.ts': declared.join('\n'),
    }),
    [
      'class Delta {\n  two(): void;\n}',
      'export { Alpha as First };\ninterface Alpha {\n  readonly one: "/* text */";\n}',
      'type Own = 1 | 2;',
      'function beta(one: string): void;\nfunction beta(one: number): number;',
      'const gamma: 1;',
    ],
  );
});

test('a long type is cut, and a change of its end still shows', (t) => {
  const long = (end: string) => `export declare const schema: { ${'field: string; '.repeat(60)}${end} };\n`;
  const [one = ''] = describe(t, { 'index.d.ts': long('last: 1') });
  const [two = ''] = describe(t, { 'index.d.ts': long('last: 2') });
  assert.match(one, /^const schema: \{ field: string;.* … \/\/ \d+ characters, sha256 [0-9a-f]{12}$/);
  assert.notEqual(one, two);
});

test('an export that leads nowhere is reported', (t) => {
  assert.throws(() => describe(t, { 'index.d.ts': "export { gone } from './gone.js';\n" }), /no declaration of gone/);
});
