import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import { messagesOf, openCommitGate } from '../../test/commit-gate.ts';
import { createAst } from '../create-ast.ts';

const rule = 'code.mod.import.rules';

const BOUNDARIES = `import_rules:
  - from: "src/ui/**"
    deny: ["src/db/**", "pg", "node:fs"]
    message: The user interface does not touch the database
  - from: ["src/core/**"]
    allow: ["src/lib/**"]
    type_only: false
`;

const FILES = {
  'src/db/index.ts': 'export const query = 1;\nexport type Row = string;\n',
  'src/db/deep/x.ts': 'export const x = 1;\n',
  'src/lib/a.ts': 'export const a = 1;\n',
  'src/core/own.ts': 'export const own = 1;\n',
  'tsconfig.json': '{ "compilerOptions": { "paths": { "@db/*": ["./src/db/*"] } } }\n',
};

/** What a file imports, and what is found at it. */
const EXAMPLES: readonly [path: string, text: string, found: readonly string[]][] = [
  ['src/ui/a.ts', "import { query } from '../db/index.ts';\n", ['src/ui/a.ts:1 imports src/db/index.ts']],
  ['src/ui/a.ts', "import { query } from '../db';\n", ['src/ui/a.ts:1 imports src/db/index.ts']],
  ['src/ui/a.ts', "import { x } from '../db/deep/x.js';\n", ['src/ui/a.ts:1 imports src/db/deep/x.ts']],
  ['src/ui/a.ts', "import { x } from '@db/deep/x';\n", ['src/ui/a.ts:1 imports src/db/deep/x.ts']],
  ['src/ui/a.ts', "\nexport { query } from '../db/index.ts';\n", ['src/ui/a.ts:2 imports src/db/index.ts']],
  ['src/ui/a.ts', "const x = await import('../db/index.ts');\n", ['src/ui/a.ts:1 imports src/db/index.ts']],
  ['src/ui/a.ts', "const x = require('../db');\n", ['src/ui/a.ts:1 imports src/db/index.ts']],
  ['src/ui/a.ts', "import type { Row } from '../db/index.ts';\n", ['src/ui/a.ts:1 imports src/db/index.ts']],
  ['src/ui/a.ts', "import '../db/gone.ts';\n", ['src/ui/a.ts:1 imports src/db/gone.ts']],
  [
    'src/ui/a.ts',
    "import pg from 'pg';\nimport fs from 'node:fs';\n",
    ['src/ui/a.ts:1 imports pg', 'src/ui/a.ts:2 imports node:fs'],
  ],
  ['src/ui/a.ts', "import { a } from '../lib/a.ts';\nimport path from 'node:path';\n", []],
  ['src/ui/a.ts', "// import { query } from '../db/index.ts';\nconst s = \"import '../db'\";\n", []],
  ['src/ui/a.ts', "// sdk-ignore code.mod.import.rules\nimport '../db/index.ts';\n", []],
  ['src/other/a.ts', "import { query } from '../db/index.ts';\n", []],
  ['src/core/a.ts', "import { query } from '../db/index.ts';\n", ['src/core/a.ts:1 imports src/db/index.ts']],
  ['src/core/a.ts', "import { a } from '../lib/a.ts';\nimport { own } from './own.ts';\nimport pg from 'pg';\n", []],
  ['src/core/a.ts', "import type { Row } from '../db/index.ts';\n", []],
  ['src/core/a.ts', "import { type Row, query } from '../db/index.ts';\n", ['src/core/a.ts:1 imports src/db/index.ts']],
];

describe('code.mod.import.rules [S0-70]', () => {
  test('finds imports that cross a boundary, by the file they lead to [S0-70] (deep)', async () => {
    await using gate = await openCommitGate({ rule, registry: BOUNDARIES, files: FILES });
    for (const [path, text, found] of EXAMPLES) {
      const { error } = await gate.commit({ [path]: text });
      const places = messagesOf(error).map((message) => message.replace(/^[^:]+: /, ''));
      assert.deepEqual(places, found, `${path}: ${text}`);
      await gate.commit({ [path]: null });
    }
  });

  test('says why in the words of the registry, and where they stand [S0-70]', async () => {
    await using gate = await openCommitGate({ rule, registry: BOUNDARIES, files: FILES });
    const { error } = await gate.commit({ 'src/ui/a.ts': "import '../db/index.ts';\n" });
    assert.match(String(error?.message), /^The user interface does not touch the database: src\/ui\/a\.ts:1 imports/);
    assert.deepEqual([error?.code, error?.details?.['import_rule']], ['E_VALIDATION_FAIL', 'r.yaml:5']);
  });

  test('resolves against the tree that is committed, not the work tree [S0-70]', async () => {
    const registry = 'import_rules: [{from: "app/**", allow: ["app/**", "api/index.ts"]}]';
    await using gate = await openCommitGate({ rule, registry, files: { 'api/index.ts': 'export {};\n' } });
    gate.code.write({ 'api.ts': 'export {};\n' });
    gate.code.write({ 'app/a.ts': "import '../api';\n" });
    gate.code.git('add', 'app/a.ts');
    assert.equal((await gate.code.call('commit_probe', {})).ok, true, 'api.ts is not part of the commit');
    gate.code.git('add', 'api.ts');
    assert.equal((await gate.code.call('commit_probe', {})).ok, false, 'now ../api is api.ts');
  });

  test('other languages are judged by what their imports say [S0-70]', async () => {
    const registry = 'import_rules: [{from: "**/*.rs", deny: ["crate::db::*", "crate::db"]}]';
    await using gate = await openCommitGate({ rule, registry });
    assert.equal((await gate.commit({ 'src/ui.rs': 'use crate::db::query;\n' })).ok, false);
    assert.equal((await gate.commit({ 'src/ui.rs': 'use crate::lib::query;\n' })).ok, true);
  });

  test('a rule that cannot be understood stops the runtime from opening, and names its line [S0-70]', async () => {
    for (const [text, field] of [
      ['[{from: "a/**"}]', 'import_rules.0'],
      ['[{from: "a/**", deny: [b], colour: red}]', 'import_rules.0'],
      ['[{from: "a/**", deny: [b]}, {deny: [c]}]', 'import_rules.1.from'],
    ] as const) {
      const registry = { file: 'r.yaml', text: `version: 1\nimport_rules: ${text}\n` };
      await assert.rejects(openScratchRuntime({ ast: createAst(), registry }), (error: Error & { path?: string }) => {
        assert.equal(error.path, field);
        return true;
      });
    }
    const registry = { file: 'r.yaml', text: 'version: 1\nimport_rules: [{from: "a/**", deny: [b]}]\n' };
    await (await openScratchRuntime({ ast: createAst(), registry })).dispose();
  });
});
