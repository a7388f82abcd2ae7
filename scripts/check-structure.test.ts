import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { checkStructure } from './check-structure.ts';
import { checkOrder } from './structure/check-layers.ts';

type Files = Readonly<Record<string, string>>;

const entry = (source: string) => ({ 'tool-runtime-source': source, default: source });
const manifest = (dependencies: Record<string, string>, exports: Record<string, unknown>) =>
  JSON.stringify({ dependencies, exports, type: 'module' });

const SDK = 'packages/sdk/src';
const TOOL = `/** file_read */\nexport const fileRead = defineTool({ name: 'file_read', summary: 'Read' });\n`;
const RULE = `/** sandbox */\nexport const rule = defineRule({ id: 'sec.paths.sandbox' });\n`;

/** A small tree without a fault; every test below breaks one thing in it. */
const CLEAN: Files = {
  'package.json': JSON.stringify({ devDependencies: { 'fast-check': '4' } }),
  'package-lock.json':
    '{ "packages": { "node_modules/@tool-runtime/sdk": { "resolved": "packages/sdk", "link": true } } }',
  'packages/protocol/package.json': manifest({ zod: '4' }, { '.': entry('./src/index.ts') }),
  'packages/sdk/package.json': manifest(
    { '@tool-runtime/protocol': '0', yaml: '2', zod: '4' },
    {
      '.': entry('./src/index.ts'),
      './testing': entry('./src/testing/index.ts'),
      './tool-kit': entry('./src/tool-kit.ts'),
    },
  ),
  'packages/host/package.json': manifest(
    { '@tool-runtime/sdk': '0', commander: '15' },
    { '.': entry('./src/index.ts') },
  ),
  'packages/protocol/src/index.ts': `export { wire } from './wire.ts';\n`,
  'packages/protocol/src/wire.ts': `import { z } from 'zod';\nexport const wire = z;\n`,
  [`${SDK}/index.ts`]: `export { createRuntime } from './runtime.ts';\n`,
  [`${SDK}/testing/index.ts`]: `export { scratch } from './scratch.ts';\n`,
  [`${SDK}/testing/scratch.ts`]: `import { mkdtempSync } from 'node:fs';\nimport { createRuntime } from '../runtime.ts';\nexport const scratch = [mkdtempSync, createRuntime];\n`,
  [`${SDK}/runtime.ts`]: `import * as tools from './tools/catalog.ts';\nexport const createRuntime = () => tools;\n`,
  [`${SDK}/contracts/tool.ts`]: `import type { wire } from '@tool-runtime/protocol';\nimport type { z } from 'zod';\nexport type T = [z.ZodType, typeof wire];\n`,
  [`${SDK}/contracts/rule.ts`]: `export type R = 1;\n`,
  [`${SDK}/platform/clock.ts`]: `export const now = Date.now;\n`,
  [`${SDK}/tool-kit/parse.ts`]: `export const parse = JSON.parse;\n`,
  [`${SDK}/tools/fs/lines.ts`]: `export const lines = 1;\n`,
  [`${SDK}/platform/files.ts`]: `import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n`,
  [`${SDK}/journal/store/catalog.ts`]: `export { openJournal } from './journal-sqlite.ts';\n`,
  [`${SDK}/journal/store/journal-sqlite.ts`]: `import { DatabaseSync } from 'node:sqlite';\nexport const openJournal = DatabaseSync;\n`,
  [`${SDK}/journal/store/journal-sqlite.test.ts`]: `import { openJournal } from './journal-sqlite.ts';\nopenJournal;\n`,
  [`${SDK}/tool-kit.ts`]: `export { run } from './tool-kit/run-tool.ts';\n`,
  [`${SDK}/tool-kit/run-tool.ts`]: `import { readFileSync } from 'node:fs';\nexport const run = readFileSync;\n`,
  [`${SDK}/call/pipeline.ts`]: `import { execute } from './execute-tool.ts';\nimport { settle } from './state/settle.ts';\nexport const run = [execute, settle];\n`,
  [`${SDK}/call/execute-tool.ts`]: `import { settle } from './state/settle.ts';\nexport const execute = settle;\n`,
  [`${SDK}/call/state/settle.ts`]: `export const settle = 1;\n`,
  [`${SDK}/call/state/open-call.ts`]: `export const openCall = 1;\n`,
  [`${SDK}/tools/catalog.ts`]: `/** Every tool. */\nexport { fileRead } from './fs/file-read.ts';\n`,
  [`${SDK}/tools/fs/file-read.ts`]: TOOL,
  [`${SDK}/tools/fs/file-read.test.ts`]: `import { fileRead } from './file-read.ts';\nfileRead;\n`,
  [`${SDK}/rules/catalog.ts`]: `export { rule } from './sec.paths.sandbox.ts';\n`,
  [`${SDK}/rules/sec.paths.sandbox.ts`]: RULE,
  [`${SDK}/rules/sec.paths.sandbox.test.ts`]: `import fc from 'fast-check';\nfc;\n`,
  'packages/host/src/index.ts': `export { createRuntime } from '@tool-runtime/sdk';\n`,
  'packages/host/src/cli/catalog.ts': `export const call = () => import('./commands/call.ts');\nexport const run = () => import('./commands/run.ts');\n`,
  'packages/host/src/cli/commands/call.ts': `import { createRuntime } from '@tool-runtime/sdk';\nexport const call = createRuntime;\n`,
  'packages/host/src/cli/commands/call.test.ts': `import { call } from './call.ts';\ncall;\n`,
  'packages/host/src/cli/commands/run.ts': `export const run = 1;\n`,
  'packages/host/src/cli/commands/run.test.ts': `import { run } from './run.ts';\nrun;\n`,
  'examples/quick-start.ts': `import { createRuntime } from '@tool-runtime/sdk';\ncreateRuntime();\n`,
};

function plant(t: TestContext, files: Files): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'structure-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

/** What the checks say about the clean tree with some files added, replaced or (undefined) removed. */
function findingsWith(t: TestContext, changes: Readonly<Record<string, string | undefined>>): string[] {
  const files: Record<string, string> = {};
  for (const [name, text] of Object.entries({ ...CLEAN, ...changes })) if (text !== undefined) files[name] = text;
  return checkStructure(plant(t, files)).map(
    ({ level, check, file, line }) => `${level} ${check} ${file}${line === undefined ? '' : `:${line}`}`,
  );
}

/** Most cases add one small file: too small for a room, but that is not what they are about. */
const isNotAboutRooms = (finding: string) => !/^\w+ (?:rooms|fragments) /.test(finding);

const lines = (count: number) => `/** Long. */\n${'export {};\n'.repeat(count - 1)}`;

test('a clean tree passes', (t) => {
  assert.deepEqual(findingsWith(t, {}), []);
});

describe('each violation is found, and nothing else', () => {
  const violations: readonly [string, Readonly<Record<string, string | undefined>>, readonly string[]][] = [
    [
      'a message with a word that is not plain',
      { [`${SDK}/platform/files.ts`]: `export const read = 'mend the hook';\n` },
      [`fail plain-words ${SDK}/platform/files.ts:1`],
    ],
    [
      'a comment with a word that is not plain',
      { [`${SDK}/platform/files.ts`]: `/**\n * Reads a file that nobody owns.\n */\nexport const read = 'nobody';\n` },
      [`fail plain-words ${SDK}/platform/files.ts:2`],
    ],
    [
      'a title with a word that is not plain',
      { [`${SDK}/platform/files.test.ts`]: `// Wall-clock time is fine.\ntest('reads behind the wall', () => {});\n` },
      [`fail plain-words ${SDK}/platform/files.test.ts:2`, `fail plain-words ${SDK}/platform/files.test.ts:2`],
    ],
    [
      'protocol importing Node',
      { 'packages/protocol/src/wire.ts': `import 'node:crypto';\nexport const wire = 1;\n` },
      ['fail package-borders packages/protocol/src/wire.ts:1'],
    ],
    [
      'protocol importing sdk [S0-1]',
      {
        'packages/protocol/src/wire.ts': `import type { createRuntime } from '@tool-runtime/sdk';\nexport const wire = 1 as unknown as typeof createRuntime;\n`,
      },
      ['fail package-borders packages/protocol/src/wire.ts:1'],
    ],
    [
      'an undeclared dependency',
      { [`${SDK}/platform/files.ts`]: `import {\n  a,\n} from 'left-pad';\nexport const read = a;\n` },
      [`fail package-borders ${SDK}/platform/files.ts:1`],
    ],
    [
      'a relative import across packages',
      { 'packages/host/src/index.ts': `export { run } from '../../sdk/src/call/pipeline.ts';\n` },
      ['fail package-borders packages/host/src/index.ts:1'],
    ],
    [
      'a deep import',
      { 'packages/host/src/index.ts': `export { run } from '@tool-runtime/sdk/call/pipeline.ts';\n` },
      ['fail package-borders packages/host/src/index.ts:1'],
    ],
    [
      'an example that reaches inside',
      { 'examples/quick-start.ts': `import '../packages/sdk/src/runtime.ts';\n` },
      ['fail package-borders examples/quick-start.ts:1'],
    ],
    [
      'contracts importing a value of zod',
      { [`${SDK}/contracts/tool.ts`]: `import { z } from 'zod';\nexport const t = z;\n` },
      [`fail layers ${SDK}/contracts/tool.ts:1`],
    ],
    [
      'a layer importing uphill, even a type',
      {
        [`${SDK}/contracts/tool.ts`]: `import type { read } from '../platform/files.ts';\nexport type T = typeof read;\n`,
      },
      [`fail layers ${SDK}/contracts/tool.ts:1`],
    ],
    [
      'the call layer importing tools, even lazily',
      { [`${SDK}/call/execute-tool.ts`]: `export const execute = () => import('../tools/catalog.ts');\n` },
      [`fail layers ${SDK}/call/execute-tool.ts:1`],
    ],
    [
      'a tool importing the wiring',
      {
        [`${SDK}/tools/fs/file-read.ts`]: `import type { createRuntime } from '../../runtime.ts';\n${TOOL}export type R = typeof createRuntime;\n`,
      },
      [`fail layers ${SDK}/tools/fs/file-read.ts:1`],
    ],
    [
      'a server importing the command line',
      { 'packages/host/src/mcp/serve.ts': `import { run } from '../cli/run.ts';\nexport const serve = run;\n` },
      ['fail layers packages/host/src/mcp/serve.ts:1'],
    ],
    [
      'a folder without a layer',
      { [`${SDK}/odds/one.ts`]: `export const one = 1;\n` },
      [`fail layers ${SDK}/odds/one.ts`],
    ],
    [
      'a stage importing a stage',
      {
        [`${SDK}/call/check-gates.ts`]: `import { execute } from './execute-tool.ts';\nexport const gates = execute;\n`,
      },
      [`fail stage-isolation ${SDK}/call/check-gates.ts:1`],
    ],
    [
      'disk access outside platform',
      { [`${SDK}/call/execute-tool.ts`]: `import { stat } from 'node:fs/promises';\nexport const execute = stat;\n` },
      [`fail platform-modules ${SDK}/call/execute-tool.ts:1`],
    ],
    [
      'a database outside stores',
      {
        [`${SDK}/call/execute-tool.ts`]: `import { DatabaseSync } from 'node:sqlite';\nexport const execute = DatabaseSync;\n`,
      },
      [`fail platform-modules ${SDK}/call/execute-tool.ts:1`],
    ],
    [
      'more than files in the kit for external tools',
      { [`${SDK}/tool-kit/run-tool.ts`]: `import { spawn } from 'node:child_process';\nexport const run = spawn;\n` },
      [`fail platform-modules ${SDK}/tool-kit/run-tool.ts:1`],
    ],
    [
      'a package in the kit for external tools',
      { [`${SDK}/tool-kit/run-tool.ts`]: `import { wire } from '@tool-runtime/protocol';\nexport const run = wire;\n` },
      [`fail layers ${SDK}/tool-kit/run-tool.ts:1`],
    ],
    [
      'another part of sdk in the kit for external tools',
      { [`${SDK}/tool-kit/run-tool.ts`]: `import { read } from '../platform/files.ts';\nexport const run = read;\n` },
      [`fail layers ${SDK}/tool-kit/run-tool.ts:1`],
    ],
    [
      'an import cycle',
      {
        [`${SDK}/platform/a.ts`]: `import { b } from './b.ts';\nexport const a = () => b;\n`,
        [`${SDK}/platform/b.ts`]: `import { a } from './a.ts';\nexport const b = () => a;\n`,
      },
      [`fail import-cycles ${SDK}/platform/a.ts`],
    ],
    [
      'a tool that is not listed',
      { [`${SDK}/tools/catalog.ts`]: `/** None. */\n` },
      [`fail catalogs ${SDK}/tools/fs/file-read.ts`],
    ],
    [
      'a tool listed twice',
      {
        [`${SDK}/tools/catalog.ts`]: `export { fileRead } from './fs/file-read.ts';\nexport { fileRead as again } from './fs/file-read.ts';\n`,
      },
      [`fail catalogs ${SDK}/tools/fs/file-read.ts`],
    ],
    [
      'a tool whose file has another name',
      { [`${SDK}/tools/fs/file-read.ts`]: TOOL.replace(`'file_read'`, `'file_fetch'`) },
      [`fail catalogs ${SDK}/tools/fs/file-read.ts:2`],
    ],
    [
      'a rule whose file has another name',
      { [`${SDK}/rules/sec.paths.sandbox.ts`]: RULE.replace('.sandbox', '.box') },
      [`fail catalogs ${SDK}/rules/sec.paths.sandbox.ts:2`],
    ],
    [
      'a rule that hides in a part',
      { [`${SDK}/rules/parts.ts`]: RULE.replace('sandbox', 'secret') },
      [
        `fail catalogs ${SDK}/rules/parts.ts`,
        `fail catalogs ${SDK}/rules/parts.ts`,
        `fail catalogs ${SDK}/rules/parts.ts:2`,
      ],
    ],
    [
      'a tool without a test',
      { [`${SDK}/tools/fs/file-read.test.ts`]: undefined },
      [`fail catalogs ${SDK}/tools/fs/file-read.ts`],
    ],
    [
      'a command without a test',
      { 'packages/host/src/cli/commands/call.test.ts': undefined },
      ['fail catalogs packages/host/src/cli/commands/call.ts'],
    ],
    [
      'a store that is not listed',
      {
        [`${SDK}/journal/store/journal-memory.ts`]: `export const x = 1;\n`,
        [`${SDK}/journal/store/journal-memory.test.ts`]: `import './journal-memory.ts';\n`,
      },
      [`fail catalogs ${SDK}/journal/store/journal-memory.ts`],
    ],
    [
      'a part in the list of stores',
      {
        [`${SDK}/journal/store/catalog.ts`]: `export { openJournal } from './journal-sqlite.ts';\nexport { x } from './blocks.ts';\n`,
        [`${SDK}/journal/store/blocks.ts`]: `export const x = 1;\n`,
      },
      [`fail catalogs ${SDK}/journal/store/catalog.ts`],
    ],
    [
      'a registry section that is not listed',
      {
        [`${SDK}/registry/load-registry.test.ts`]: ``,
        [`${SDK}/registry/load-registry.ts`]: `/** Loads. */\nexport const load = 1;\n`,
        [`${SDK}/registry/narrow-registry.test.ts`]: ``,
        [`${SDK}/registry/narrow-registry.ts`]: `/** Narrows. */\nexport const narrow = 1;\n`,
        [`${SDK}/registry/sections/git.ts`]: `/** Git. */\nexport const git = 1;\n`,
        [`${SDK}/registry/sections/catalog.ts`]: `/** None. */\n`,
      },
      [`fail catalogs ${SDK}/registry/sections/git.ts`],
    ],
    [
      'a catalog with code in it',
      { [`${SDK}/tools/catalog.ts`]: `export { fileRead } from './fs/file-read.ts';\nexport const count = 1;\n` },
      [`fail catalogs ${SDK}/tools/catalog.ts`],
    ],
    [
      'a catalog line without a file',
      {
        [`${SDK}/tools/catalog.ts`]: `export { fileRead } from './fs/file-read.ts';\nexport { gone } from './fs/gone.ts';\n`,
      },
      [`fail catalogs ${SDK}/tools/catalog.ts`],
    ],
    [
      'an empty name',
      { 'scripts/string-utils.ts': `export const x = 1;\n` },
      ['fail forbidden-names scripts/string-utils.ts'],
    ],
    [
      'an empty folder name',
      { [`${SDK}/platform/shared/x.ts`]: `export const x = 1;\n` },
      [`fail forbidden-names ${SDK}/platform/shared/x.ts`],
    ],
    [
      'a barrel',
      { [`${SDK}/platform/index.ts`]: `export { read } from './files.ts';\n` },
      [`fail forbidden-names ${SDK}/platform/index.ts`],
    ],
    ['a default export', { 'scripts/x.ts': `export default 1;\n` }, ['fail forbidden-code scripts/x.ts:1']],
    [
      'a star export',
      { 'scripts/x.ts': `\nexport * from './y.ts';\n`, 'scripts/y.ts': `export {};\n` },
      ['fail forbidden-code scripts/x.ts:2'],
    ],
    ['an enum', { 'scripts/x.ts': `export const enum Size { Small }\n` }, ['fail forbidden-code scripts/x.ts:1']],
    [
      'a plain Error',
      { [`${SDK}/call/state/settle.ts`]: `export const settle = () => new Error('x');\n` },
      [`fail forbidden-code ${SDK}/call/state/settle.ts:1`],
    ],
    [
      'a whole directory read at once',
      {
        [`${SDK}/platform/x.ts`]: `import { readdirSync } from 'node:fs';\nexport const x = () => readdirSync('.');\n`,
      },
      [`fail forbidden-code ${SDK}/platform/x.ts:2`],
    ],
    [
      'module-level state',
      {
        [`${SDK}/call/state/settle.ts`]: `let count = 0;\nexport const settle = () => {\n  let mine = (count += 1);\n  return mine;\n};\n`,
      },
      [`fail forbidden-code ${SDK}/call/state/settle.ts:1`],
    ],
    [
      "a tool's name in shared code",
      { [`${SDK}/call/state/settle.ts`]: `export const settle = (tool: string) => tool === 'file_read';\n` },
      [`fail tool-names ${SDK}/call/state/settle.ts:1`],
    ],
    [
      'a tool that changes something and does not say how a lost call is recognised',
      { [`${SDK}/external/x.ts`]: `export const x = defineTool({\n  effect: 'write',\n  run: () => 1,\n});\n` },
      [`fail lost-calls ${SDK}/external/x.ts:1`],
    ],
    ['a file over 400 lines', { 'scripts/x.ts': lines(401) }, ['fail sizes scripts/x.ts']],
    ['a file over 250 lines, as a warning', { 'scripts/x.ts': lines(251) }, ['warn sizes scripts/x.ts']],
    [
      'a test over 800 lines',
      { 'scripts/x.ts': `export {};\n`, 'scripts/x.test.ts': lines(801) },
      ['fail sizes scripts/x.test.ts'],
    ],
    [
      'more than 20 own imports',
      {
        'scripts/x.ts': `/** Knows too much. */\n${`import { a } from './y.ts';\n`.repeat(21)}`,
        'scripts/y.ts': `export {};\n`,
      },
      ['fail sizes scripts/x.ts'],
    ],
    [
      'a function with six parameters',
      { 'scripts/x.ts': `export function six(a = 1, b: Map<string, 2>, c, d, e, f) {}\n` },
      ['fail sizes scripts/x.ts:1'],
    ],
    [
      'an arrow with six parameters',
      { 'scripts/x.ts': `export const six = (a, b, c, d, e, f): void => {};\n` },
      ['fail sizes scripts/x.ts:1'],
    ],
    [
      'a method with six parameters',
      { 'scripts/x.ts': `export class X {\n  six(a, b, c, d, e, f) {}\n}\n` },
      ['fail sizes scripts/x.ts:2'],
    ],
    [
      'a long line in a comment',
      {
        'scripts/x.ts': `/** ${'x'.repeat(120)} */\n/**\n * ${'y '.repeat(66)}\n */\nexport {}; // ${'z'.repeat(133)}\n`,
      },
      ['fail sizes scripts/x.ts:3', 'fail sizes scripts/x.ts:5'],
    ],
    ['a source without a header', { 'scripts/x.ts': 'export {};\n'.repeat(12) }, ['fail file-places scripts/x.ts']],
    [
      'a test without its source',
      { [`${SDK}/call/ghost.test.ts`]: `export {};\n` },
      [`fail file-places ${SDK}/call/ghost.test.ts`],
    ],
    [
      'a deep test without its source',
      { [`${SDK}/call/ghost.deep.test.ts`]: `export {};\n` },
      [`fail file-places ${SDK}/call/ghost.deep.test.ts`],
    ],
    ['a deep test beside its source', { 'scripts/x.ts': 'export {};\n', 'scripts/x.deep.test.ts': 'export {};\n' }, []],
    [
      'a path of this machine',
      { 'docs/notes.md': `# Notes\nsee /${'root'}/.config\n` },
      ['fail machine-traces docs/notes.md:2'],
    ],
    [
      'a home folder',
      { 'docs/notes.md': `/${'home'}/somebody/x and file:///${'home'}/x\n` },
      ['fail machine-traces docs/notes.md:1', 'fail machine-traces docs/notes.md:1'],
    ],
    ['a registry host', { '.npmrc': `x=https://${'registry'}.npmjs.org/\n` }, ['fail machine-traces .npmrc:1']],
    [
      'a lockfile with download addresses',
      { 'package-lock.json': `{\n  "${'resolved'}": "https://example.org/zod.tgz"\n}\n` },
      ['fail machine-traces package-lock.json:2'],
    ],
    [
      'a skipped test',
      { 'scripts/x.ts': `export {};\n`, 'scripts/x.test.ts': `test.${'skip'}('x');\n` },
      ['fail test-switches scripts/x.test.ts:1'],
    ],
    [
      'a subtest that no suite runs',
      { 'test/x.test.ts': `await t.${'test'}('x (deep)', () => {});\ntest('y (deep)', () => {});\n` },
      ['fail test-switches test/x.test.ts:1'],
    ],
    ['a lonely test', { 'test/x.test.ts': `describe.${'only'}('x');\n` }, ['fail test-switches test/x.test.ts:1']],
    [
      'a test skipped by option',
      { 'test/x.test.ts': `test('x', { ${'skip'}: true });\n` },
      ['fail test-switches test/x.test.ts:1'],
    ],
    [
      'a limit that a busy machine reaches',
      { 'test/x.test.ts': `test('x', { timeout: 20_000 });\ntest('y', { timeout: 60_000 });\n` },
      ['fail test-waits test/x.test.ts:1'],
    ],
    [
      'a wait that gives up after a number of looks',
      {
        'test/x.test.ts':
          'while (!isSo()) await delay(5);\nfor (let n = 0; n < 9 && !isSo(); n++) {\n  await delay(5);\n}\n',
      },
      ['fail test-waits test/x.test.ts:2'],
    ],
  ];

  for (const [name, changes, expected] of violations) {
    test(name, (t) => assert.deepEqual(findingsWith(t, changes).filter(isNotAboutRooms), expected));
  }
});

describe('what only looks like a violation passes', () => {
  const harmless: readonly [string, Readonly<Record<string, string>>][] = [
    [
      'a type-only cycle',
      {
        [`${SDK}/platform/a.ts`]: `import type { B } from './b.ts';\nexport type A = B;\n`,
        [`${SDK}/platform/b.ts`]: `import { a } from './c.ts';\nexport type B = typeof a;\n`,
        [`${SDK}/platform/c.ts`]: `import type { A } from './a.ts';\nexport const a = 1 as unknown as A;\n`,
      },
    ],
    [
      'forbidden words in text',
      {
        [`${SDK}/call/state/settle.ts`]: `// let x; enum Y; new Error(\nexport const settle = ['export * from', \`new Error(\${[1].map((n) => { return \`enum A \${n}\`; })}let z\`, /["'\`]new Error\\(/];\n`,
      },
    ],
    [
      'an import inside a string',
      { [`${SDK}/call/state/settle.ts`]: `export const settle = "import { x } from '../tools/catalog.ts'";\n` },
    ],
    [
      'a test that uses the disk and other layers',
      {
        [`${SDK}/call/state/settle.test.ts`]: `import 'node:fs';\nimport '../../tools/catalog.ts';\nconst tool = 'file_read';\nlet n = new Error(tool);\nn;\n`,
      },
    ],
    ['a part of a rule beside it', { [`${SDK}/rules/parts.ts`]: `export const parts = 1;\n` }],
    ['a part of a tool in a folder below', { [`${SDK}/tools/fs/diff/hunks.ts`]: `export const hunks = 1;\n` }],
    [
      'a call with many arguments',
      { 'scripts/x.ts': `if (call(1, 2, 3, 4, 5, 6)) {\n  call(1, 2, 3, 4, 5, { a: 1 });\n}\n` },
    ],
    ['a relative folder called work', { 'docs/notes.md': `src/work/x and https://example.org/work/ and ~/home/x\n` }],
  ];

  for (const [name, changes] of harmless) {
    test(name, (t) => assert.deepEqual(findingsWith(t, changes).filter(isNotAboutRooms), []));
  }
});

describe('a room is neither overfull nor cut into fragments', () => {
  const cases: readonly [string, Readonly<Record<string, string>>, readonly string[]][] = [
    [
      'more than 40 sources in one folder',
      Object.fromEntries(
        Array.from({ length: 39 }, (_, n) => [`${SDK}/platform/f${n}.ts`, `export const f = ${n};\n`]),
      ),
      [`fail rooms ${SDK}/platform`],
    ],
    [
      'a folder with one source',
      { [`${SDK}/platform/files/one.ts`]: `export const one = 1;\n` },
      [`fail rooms ${SDK}/platform/files`],
    ],
    [
      'a short file with one user',
      {
        [`${SDK}/platform/files.ts`]: `import { a } from './a.ts';\nexport const read = a;\n`,
        [`${SDK}/platform/a.ts`]: lines(24),
      },
      [`fail fragments ${SDK}/platform/a.ts`],
    ],
    [
      'a short file with one user and a test of its own',
      {
        [`${SDK}/platform/files.ts`]: `import { a } from './a.ts';\nexport const read = a;\n`,
        [`${SDK}/platform/a.ts`]: lines(24),
        [`${SDK}/platform/a.test.ts`]: `import { a } from './a.ts';\na;\n`,
      },
      [],
    ],
    [
      'a short file with one user in another folder',
      {
        [`${SDK}/platform/files.ts`]: `import type { A } from '../contracts/a.ts';\nexport const read = 1 as unknown as A;\n`,
        [`${SDK}/contracts/a.ts`]: `export type A = 1;\n`,
      },
      [],
    ],
    [
      'a file of 25 lines with one user',
      {
        [`${SDK}/platform/files.ts`]: `import { a } from './a.ts';\nexport const read = a;\n`,
        [`${SDK}/platform/a.ts`]: lines(25),
      },
      [],
    ],
    [
      'a short file with two users',
      {
        [`${SDK}/platform/files.ts`]: `import { a } from './a.ts';\nexport const read = a;\n`,
        [`${SDK}/platform/b.ts`]: `import { a } from './a.ts';\nexport const b = a;\n`,
        [`${SDK}/platform/a.ts`]: lines(24),
      },
      [],
    ],
    [
      'a short file that is loaded when it is needed',
      {
        [`${SDK}/platform/files.ts`]: `export const read = () => import('./a.ts');\n`,
        [`${SDK}/platform/a.ts`]: lines(24),
      },
      [],
    ],
    [
      'a folder of 40 sources',
      Object.fromEntries(
        Array.from({ length: 38 }, (_, n) => [`${SDK}/platform/f${n}.ts`, `export const f = ${n};\n`]),
      ),
      [],
    ],
    [
      'a folder with one source and a folder below',
      {
        [`${SDK}/platform/files/one.ts`]: `export const one = 1;\n`,
        [`${SDK}/platform/files/deep/two.ts`]: `export const two = 1;\n`,
        [`${SDK}/platform/files/deep/three.ts`]: `export const three = 1;\n`,
      },
      [],
    ],
  ];

  for (const [name, changes, expected] of cases) {
    test(name, (t) => assert.deepEqual(findingsWith(t, changes), expected));
  }
});

describe('a table of layers has an order', () => {
  const findings = (table: Readonly<Record<string, readonly string[]>>) =>
    checkOrder('sdk', table).map((finding) => `${finding.level} ${finding.what}`);

  test('a table in which every line names lines above it passes', () => {
    assert.deepEqual(findings({ a: [], b: ['a'], c: ['.', 'a', 'b'] }), []);
    assert.deepEqual(findings({ 'a/x': [], 'a/y': ['a/x'], a: ['a/y'], b: ['a'] }), []);
  });

  test('a cycle of two folders is refused, whichever comes first', () => {
    assert.deepEqual(findings({ a: ['b'], b: ['a'] }), ['fail sdk: a names b, which is not above it']);
    assert.deepEqual(findings({ b: ['a'], a: ['b'] }), ['fail sdk: b names a, which is not above it']);
  });

  test('a longer cycle is refused', () => {
    assert.deepEqual(findings({ a: ['c'], b: ['a'], c: ['b'] }), ['fail sdk: a names c, which is not above it']);
  });

  test('a cycle through a room is refused', () => {
    assert.deepEqual(findings({ 'a/x': [], b: ['a'], 'a/y': ['b'] }), ['fail sdk: b names a, which is not above it']);
    assert.deepEqual(findings({ 'a/x': ['a/y'], 'a/y': [] }), ['fail sdk: a/x names a/y, which is not above it']);
  });

  test('a folder that names itself or no line at all is refused', () => {
    assert.deepEqual(findings({ a: ['a'] }), ['fail sdk: a names a, which is not above it']);
    assert.deepEqual(findings({ a: ['gone'] }), ['fail sdk: a names gone, which is not above it']);
  });
});

test('the command prints what, where and what to do, and fails', (t) => {
  const root = plant(t, { ...CLEAN, 'scripts/x.ts': 'export default 1;\n' });
  const run = spawnSync(process.execPath, [path.join(import.meta.dirname, 'check-structure.ts'), root], {
    encoding: 'utf8',
  });
  assert.equal(run.status, 1);
  assert.match(run.stdout, /fail \[forbidden-code\] scripts\/x\.ts:1\n\s+Default export\n\s+→ Export it by name/);
  assert.match(run.stdout, /1 failures, 0 warnings/);
});

test('inside a git work tree ignored files do not count', (t) => {
  const root = plant(t, { ...CLEAN, '.gitignore': 'scratch/\n', 'scripts/scratch/x.ts': 'export default 1;\n' });
  assert.equal(checkStructure(root).length, 1);
  execFileSync('git', ['init', '-q', root]);
  assert.deepEqual(checkStructure(root), []);
});
