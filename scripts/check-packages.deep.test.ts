import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { buildDeclarations } from './packaging/build-declarations.ts';
import { checkTypes, TYPED_PROGRAMS } from './packaging/check-types.ts';
import { emptyHome } from './packaging/empty-home.ts';
import { examineTarball, makeTarballs } from './packaging/examine-tarballs.ts';
import { judgeContents } from './packaging/judge-contents.ts';
import { judgeEntries } from './packaging/judge-entries.ts';
import { judgeLeaks } from './packaging/judge-leaks.ts';
import { judgeManifest } from './packaging/judge-manifest.ts';
import { judgeSizes } from './packaging/judge-sizes.ts';
import { installedPackage, linkPackages } from './packaging/link-packages.ts';
import { projectNode } from './packaging/node-releases.ts';
import { describeTarball, entriesOf, type PackageManifest, type Tarball } from './packaging/pack-packages.ts';
import { PEER_OF_ENTRY, PUBLISHED } from './packaging/published-packages.ts';
import { tryEntries } from './packaging/try-entries.ts';
import { type Finding, formatFinding } from './structure/finding.ts';

const root = path.join(import.meta.dirname, '..');
const scratch = mkdtempSync(path.join(tmpdir(), 'tool-runtime-pack-'));
const packing = mkdtempSync(path.join(scratch, 'packing-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

describe('packages as they are packed', () => {
  let tarballs: Tarball[] = [];
  before(async () => {
    tarballs = await makeTarballs(root, packing);
  });

  for (const [at, rules] of PUBLISHED.entries()) {
    test(`${rules.folder} holds what it needs, nothing else, and resolves everywhere`, async () => {
      const findings = await examineTarball(tarballs[at]!, rules, root);
      assert.deepEqual(findings.map(formatFinding), []);
    });
  }

  test('every entry can be imported, and one whose peer is missing names the peer', async () => {
    // The host brings a peer of the others as its own dependency.
    const packed = tarballs.filter(({ manifest }) => manifest.bin === undefined);
    const trial = { folder: packing, env: strangerEnv() };
    const entries = packed.flatMap(({ manifest }) => entriesOf(manifest));
    linkPackages(packing, [
      ...packed.flatMap(({ manifest }) => dependenciesOf(manifest)).map((name) => installedPackage(root, name)),
      ...packed.map(({ manifest, folder }): [string, string] => [manifest.name, folder]),
    ]);
    assert.deepEqual((await tryEntries(entries, trial)).map(formatFinding), []);
    assert.deepEqual((await checkTypes(TYPED_PROGRAMS[0]!, root, packing)).map(formatFinding), []);

    linkPackages(
      packing,
      [...PEER_OF_ENTRY.values()].map((name) => installedPackage(root, name)),
    );
    assert.deepEqual((await tryEntries(entries, trial)).map(formatFinding), []);
  });

  test('a program that does not compile is a finding', async () => {
    const folder = mkdtempSync(path.join(scratch, 'nothing-'));
    const whole = await checkTypes(TYPED_PROGRAMS[1]!, root, folder);
    assert.match(whole[0]?.what ?? '', /^error TS2688: .*'node'/);
    linkPackages(folder, [installedPackage(root, '@types/node')]);
    for (const program of TYPED_PROGRAMS) {
      const findings = await checkTypes(program, root, folder);
      assert.match(findings[0]?.what ?? '', new RegExp(`^${program.name}\\.mts\\(.*error TS2307: .*'@`));
    }
  });

  test('an entry that fails, or works without what it is said to need, is a finding', async () => {
    const folder = path.join(scratch, 'broken');
    const dist = path.join(folder, 'node_modules/@tool-runtime/adapters/dist');
    mkdirSync(dist, { recursive: true });
    const names = ['generic', 'ai-sdk'];
    const exports = Object.fromEntries(names.map((name) => [`./${name}`, `./dist/${name}.js`]));
    writeFileSync(path.join(dist, '../package.json'), JSON.stringify({ type: 'module', exports }));
    writeFileSync(path.join(dist, 'generic.js'), "import 'not-installed';");
    writeFileSync(path.join(dist, 'ai-sdk.js'), 'export const tools = [];');
    const entries = names.map((name) => `@tool-runtime/adapters/${name}`);
    const findings = await tryEntries(entries, { folder, env: strangerEnv() });
    assert.match(findings[0]?.what ?? '', /ERR_MODULE_NOT_FOUND: Cannot find package 'not-installed'/);
    assert.match(findings[1]?.what ?? '', /Without ai: can be imported/);
  });
});

describe('what is looked for in a package', () => {
  test('sizes above the limits', () => {
    const tarball = fakeTarball();
    assert.deepEqual(judgeSizes(tarball, { packedKiB: 9, unpackedKiB: 99, files: 9 }), []);
    const findings = judgeSizes(tarball, { packedKiB: 0, unpackedKiB: 99, files: 1 });
    assert.deepEqual(
      findings.map(({ what }) => what.replace(/\d+,/, '…,')),
      ['packedKiB: …, more than 0', 'files: …, more than 1'],
    );
  });

  test('tests, fixtures, leftovers of builds, and a missing readme or licence', () => {
    assert.deepEqual(judgeContents(fakeTarball(), { root: folderOf(fakeTarball()) }), []);
    const strange = [
      'src/a.test.ts',
      'dist/a.spec.js',
      'src/fixtures/b.ts',
      'tsconfig.tsbuildinfo',
      '.env',
      'src/c.json',
    ];
    const tarball = fakeTarball({ files: Object.fromEntries([...strange, 'dist/old.js'].map((name) => [name, ''])) });
    const found = filesOf(judgeContents(tarball, { root: folderOf(tarball) }));
    for (const name of [...strange, 'dist/old.js']) assert.ok(found.has(`@tool-runtime/fake/${name}`), name);
    assert.equal(found.has('@tool-runtime/fake/src/index.ts'), false);
    const astray = fakeTarball({ files: { 'dist/index.js.map': '{"sources":["../src/gone.ts","../../zod/a.js"]}' } });
    assert.deepEqual(
      judgeContents(astray, { root: folderOf(astray) }).map(({ what }) => what),
      ['No src/gone.ts'],
    );

    const bare = fakeTarball({ without: ['README.md', 'LICENSE'] });
    const missing = judgeContents(bare, { root: folderOf(bare) });
    assert.deepEqual(
      missing.map(({ what }) => what),
      ['No README.md', 'No LICENSE'],
    );
    assert.deepEqual(judgeContents(fakeTarball(), { root })[0]?.what, 'A licence of its own');
  });

  test('what a package ships in addition to its code has to be named', () => {
    const tarball = fakeTarball({ files: { 'bin/fake.js': '' } });
    const place = folderOf(tarball);
    assert.deepEqual(judgeContents(tarball, { root: place, ships: [/^bin\//] }), []);
    assert.deepEqual([...filesOf(judgeContents(tarball, { root: place }))], ['@tool-runtime/fake/bin/fake.js']);
  });

  test('secrets and paths of the machine', async () => {
    assert.deepEqual(await judgeLeaks(fakeTarball(), root), []);
    const secret = `ghp_${createHash('sha256').update('not one').digest('base64url').replace(/\W|_/g, 'x').slice(0, 36)}`;
    const home = ['', 'home', 'somebody', 'project'].join('/');
    const files = {
      'dist/a.js': `const key = '${secret}';`,
      'dist/b.js': `// ${home}/b.ts`,
      'dist/c.js': `// ${root}/c.ts`,
    };
    const findings = await judgeLeaks(fakeTarball({ files }), root);
    for (const name of Object.keys(files)) assert.ok(filesOf(findings).has(`@tool-runtime/fake/${name}`), name);
    assert.ok(findings.every(({ what }) => !what.includes(secret)));
  });

  test('scripts that run on installation', () => {
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
      const [finding] = judgeManifest(fakeTarball({ manifest: { scripts: { [script]: 'true' } } }));
      assert.equal(finding?.what, `Runs on installation: ${script}`);
    }
    assert.deepEqual(judgeManifest(fakeTarball({ manifest: { scripts: { test: 'true' } } })), []);
    assert.equal(judgeManifest(fakeTarball({ files: { 'binding.gyp': '' } })).length, 1);
  });

  test('entries that lead nowhere, versions of ours that may differ, unneeded peers', () => {
    const manifest = {
      exports: {
        '.': { types: './dist/index.d.ts', default: './dist/gone.js' },
        './sub': { default: './dist/index.js' },
      },
      dependencies: { '@tool-runtime/sdk': '^1.0.0', zod: '^4.0.0' },
      peerDependencies: { react: '*' },
    };
    assert.deepEqual(
      judgeManifest(fakeTarball({ manifest })).map(({ what }) => what),
      [
        'Entry without types: ./sub',
        'Not in the package: ./dist/gone.js',
        'Depends on @tool-runtime/sdk@^1.0.0',
        'No entry is known to need react',
        'Peer for everybody: react',
      ],
    );
  });

  test('what publint and TypeScript say of its entries', async () => {
    assert.deepEqual(await judgeEntries(fakeTarball()), []);
    const broken = fakeTarball({
      manifest: { exports: { '.': { default: './dist/index.js', types: './dist/index.d.ts' } } },
      files: { 'dist/index.d.ts': 'export = 1;\n' },
    });
    const checks = new Set((await judgeEntries(broken)).map(({ check }) => check));
    assert.ok(checks.has('publint'));
    const untyped = fakeTarball({ without: ['dist/index.d.ts'] });
    assert.ok((await judgeEntries(untyped)).some(({ check }) => check === 'attw'));
  });
});

describe('what packing rests on', () => {
  test('what no source stands behind is taken out of a build, the rest stays', async () => {
    const folder = mkdtempSync(path.join(scratch, 'built-'));
    writeFiles(path.join(folder, 'packages/fake'), {
      'src/a.ts': '',
      'dist/a.d.ts': '',
      'dist/a.d.ts.map': '',
      'dist/b.d.ts': '',
    });
    utimesSync(path.join(folder, 'packages/fake/src/a.ts'), 1, 1);
    await buildDeclarations(folder, ['fake']);
    const left = ['a.d.ts', 'a.d.ts.map', 'b.d.ts'].filter((name) =>
      existsSync(path.join(folder, 'packages/fake/dist', name)),
    );
    assert.deepEqual(left, ['a.d.ts', 'a.d.ts.map']);
  });

  test('an old build is made anew', async () => {
    const folder = mkdtempSync(path.join(scratch, 'old-'));
    writeFiles(path.join(folder, 'packages/fake'), { 'src/a.ts': '', 'dist/a.d.ts': '' });
    utimesSync(path.join(folder, 'packages/fake/dist/a.d.ts'), 1, 1);
    // There is no compiler in that folder: that it is called for is all there is to see.
    await assert.rejects(buildDeclarations(folder, ['fake']), /node_modules\/typescript\/bin\/tsc -b --force/);
  });

  test('an empty home keeps how npm reaches its registry, and nothing of this run', () => {
    const from = {
      PATH: ['/project/node_modules/.bin', '/usr/bin'].join(path.delimiter),
      NODE_EXTRA_CA_CERTS: 'certificates.pem',
      npm_config_registry: 'here',
      npm_lifecycle_event: 'test',
      NODE_OPTIONS: '-C tool-runtime-source',
      TOOL_RUNTIME_STATE: 'state',
    };
    const { npm_config_userconfig, npm_config_cache, ...rest } = emptyHome(scratch, '/node/bin', from);
    assert.ok(npm_config_userconfig && npm_config_cache);
    assert.deepEqual(rest, {
      PATH: ['/node/bin', '/usr/bin'].join(path.delimiter),
      NODE_EXTRA_CA_CERTS: 'certificates.pem',
      npm_config_registry: 'here',
      HOME: path.join(scratch, 'home'),
    });
  });
});

function strangerEnv(): NodeJS.ProcessEnv {
  return emptyHome(scratch, projectNode(root).folder);
}

interface FakeParts {
  readonly manifest?: Partial<PackageManifest>;
  readonly files?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}

/** A small package without a fault, changed as said. */
function fakeTarball({ manifest = {}, files = {}, without = [] }: FakeParts = {}): Tarball {
  const place = mkdtempSync(path.join(scratch, 'fake-'));
  const all: Record<string, string> = {
    'package.json': JSON.stringify({
      name: '@tool-runtime/fake',
      version: '1.0.0',
      type: 'module',
      license: 'Apache-2.0',
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
      ...manifest,
    }),
    'README.md': '# Fake\n',
    LICENSE: 'As you like\n',
    'dist/index.js': 'export const one = 1;\n',
    'dist/index.js.map': '{"sources":["../src/index.ts"]}\n',
    'dist/index.d.ts': 'export declare const one: 1;\n',
    'src/index.ts': 'export const one = 1;\n',
    ...files,
  };
  for (const name of without) delete all[name];
  writeFiles(path.join(place, 'package'), all);
  execFileSync('tar', ['-czf', 'fake.tgz', 'package'], { cwd: place });
  return describeTarball(path.join(place, 'fake.tgz'), path.join(place, 'package'));
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

/** Its own licence is taken for that of the root. */
function folderOf({ folder }: Tarball): string {
  return folder;
}

function filesOf(findings: readonly Finding[]): Set<string> {
  return new Set(findings.map(({ file }) => file));
}

function dependenciesOf({ dependencies = {}, optionalDependencies = {} }: PackageManifest): string[] {
  return Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !name.startsWith('@tool-runtime/'));
}
