import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { isJsonObject } from '@tool-runtime/protocol';
import { type AstIndex, createRuntime, type Runtime } from '@tool-runtime/sdk';
import { detectProject } from './detect-project.ts';
import type { DetectedProject, ProjectReader } from './detected-project.ts';
import { keepPresent } from './keep-present.ts';
import { renderRegistry } from './render-registry.ts';

type Files = Readonly<Record<string, string>>;

const samples = JSON.parse(readFileSync(new URL('fixtures/projects.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, { readonly files: Files }>
>;
const schemaRef = './tool-runtime.schema.json';
const STEPS = ['build', 'lint', 'fmt'] as const;

/** Stands for a parser: the rules that need one can then be in force. */
const ast: AstIndex = { covers: () => false, refresh: () => {}, parseProblems: () => [] };

/** The project as real files, read from disk. */
function onDisk(folder: string, files: Files): ProjectReader {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const isFile = (path: string) => existsSync(join(folder, path)) && statSync(join(folder, path)).isFile();
  return {
    read: (path) => (isFile(path) ? readFileSync(join(folder, path), 'utf8') : undefined),
    exists: (path) => existsSync(join(folder, path)),
    list: (path) => (existsSync(join(folder, path)) && !isFile(path) ? readdirSync(join(folder, path)) : []),
  };
}

interface Opened {
  readonly detected: DetectedProject;
  readonly text: string;
  readonly runtime: Runtime;
}

/** Loads the text the way an operator's own file is loaded: every rule and tool of the build is known. */
async function withRuntime(
  text: string,
  use: (runtime: Runtime) => Promise<void> | void,
  files: Files = {},
): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-init-'));
  try {
    const workspace = join(scratch, 'workspace');
    mkdirSync(workspace);
    onDisk(workspace, files);
    const registry = { text, file: 'tool-runtime.yaml' };
    const runtime = await createRuntime({ workspace, state: join(scratch, 'state'), registry, ast });
    try {
      await use(runtime);
    } finally {
      await runtime.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function withProject(files: Files, use: (opened: Opened) => Promise<void> | void): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-detect-'));
  try {
    const detected = detectProject(onDisk(scratch, files));
    const text = renderRegistry(detected, { schemaRef, parser: true });
    await withRuntime(text, (runtime) => use({ detected, text, runtime }), files);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

describe('renderRegistry', () => {
  for (const [name, { files }] of Object.entries(samples)) {
    test(`writes a registry for ${name} that loads without a word [S0-17]`, () =>
      withProject(files, ({ detected, runtime: { registry, warnings } }) => {
        assert.deepEqual(warnings, []);
        assert.deepEqual({ ...registry.commands }, detected.commands);
        assert.deepEqual(
          registry.shellAllow.map(({ source }) => source),
          detected.shellAllow,
        );
        assert.deepEqual(registry.testGlobs, detected.testGlobs);
        assert.deepEqual(registry.protectedBranches, [detected.git?.defaultBranch ?? ['main', 'master']].flat());
        for (const step of STEPS) {
          assert.equal(registry.validators.has(`${step}.must.pass`), detected.commands[step] !== undefined, step);
        }
      }));

    test(`allows ${name} no network, no push and no command but its own [S0-18 S0-20]`, () =>
      withProject(files, ({ detected, runtime: { registry } }) => {
        assert.deepEqual(registry.allowedDomains, []);
        assert.deepEqual([registry.git.allow_push, registry.git.require_clean_tree_for_commit], [false, false]);
        assert.notEqual(registry.ceiling.side_effect_level, 'network');
        assert.equal(registry.isolation, 'bubblewrap');
        const allows = (line: string) => registry.shellAllow.some((pattern) => pattern.test(line));
        for (const line of Object.values(detected.commands).flatMap((command) => command.split(/ (?:&&|\|) /))) {
          assert.ok(allows(line), line);
          const isScript = detected.scripts.some((script) => `${line} `.startsWith(`${script} `));
          assert.ok(allows(`${line} x`) === isScript && !allows(`x ${line}`), line);
          assert.ok(isScript || !allows(`${line}x`), line);
        }
      }));
  }

  test('what it allows runs through shell_exec, and its neighbours do not [S0-36]', () => {
    const files = { 'build.gradle': '', gradlew: 'echo "ran $1"\n' };
    return withProject(files, async ({ runtime }) => {
      const session = await runtime.openSession();
      const ran = await session.call('shell_exec', { cmd: 'sh gradlew test' });
      assert.ok(isJsonObject(ran.data), JSON.stringify(ran));
      assert.deepEqual([ran.ok, ran.data['stdout']], [true, 'ran test\n']);
      const refused = await session.call('shell_exec', { cmd: 'sh gradlew publish' });
      assert.deepEqual([refused.ok, refused.errors[0]?.code], [false, 'E_POLICY']);
    });
  });

  test('the format check of Go fails when gofmt names a file, and only then', () => {
    const fmt =
      detectProject({ read: () => undefined, exists: (path) => path === 'go.mod', list: () => [] }).commands.fmt ?? '';
    const text = "version: 1\nshell_allow: ['^echo main$', '^true$', '^false$', '^diff - /dev/null$']\n";
    return withRuntime(text, async (runtime) => {
      const session = await runtime.openSession();
      const codeWith = async (program: string) => {
        const { data } = await session.call('shell_exec', { cmd: fmt.replaceAll('gofmt -l .', program) });
        return isJsonObject(data) ? data['code'] : data;
      };
      assert.deepEqual([await codeWith('true'), await codeWith('echo main'), await codeWith('false')], [0, 1, 1]);
    });
  });

  test('begins with the line editors look for, and comments out what was not found', () =>
    withProject({ 'Cargo.toml': '[package]\n' }, ({ text }) => {
      assert.ok(text.startsWith(`# yaml-language-server: $schema=${schemaRef}\n`));
      assert.match(text, /^ {2}build: 'cargo build'$/m);
      assert.match(text, /^ {2}# - rule: code\.mod\.import\.rules # needs import_rules$/m);
      const bare = renderRegistry(detectProject({ read: () => undefined, exists: () => false, list: () => [] }), {
        schemaRef,
      });
      assert.match(bare, /^commands: \{\}\n {2}# build: /m);
      assert.match(bare, /^ {2}# - rule: build\.must\.pass # needs commands\.build$/m);
      assert.match(bare, /^shell_allow: \[\]$/m);
    }));

  test('lists the rules of a parser only for a runtime that has one', () => {
    const detected = detectProject({ read: () => undefined, exists: () => false, list: () => [] });
    const listed = (parser: boolean) =>
      [...renderRegistry(detected, { schemaRef, parser }).matchAll(/^ {2}- rule: (code\.\S+)$/gm)].map(
        (match) => match[1],
      );
    assert.deepEqual(listed(false), ['code.todo.blockers']);
    assert.deepEqual(listed(true), [
      'code.todo.blockers',
      'code.ast.parsed',
      'code.fn.docs.exported',
      'code.no.panic.in.lib',
      'code.no.unwrap',
    ]);
    assert.equal(renderRegistry(detected, { schemaRef }), renderRegistry(detected, { schemaRef, parser: true }));
  });

  test('an agent may run any command line in the sandbox, a reader may change and run nothing', async () => {
    const detected = detectProject({ read: () => undefined, exists: () => false, list: () => [] });
    const toolchains = [{ name: 'rust', folders: ['~/.cargo/bin'] }];
    await withRuntime(renderRegistry(detected, { schemaRef, profile: 'agent', toolchains }), async (runtime) => {
      assert.deepEqual([runtime.registry.shell.mode, runtime.registry.shellAllow.length], ['sandboxed', 0]);
      assert.deepEqual([runtime.warnings, runtime.registry.sandbox.toolchains], [[], ['rust']]);
      const { data } = await (await runtime.openSession()).call('shell_exec', {
        cmd: 'echo "$((1 + 1))" > two; cat t*',
      });
      assert.equal(isJsonObject(data) && data['stdout'], '2\n');
    });
    await withRuntime(renderRegistry(detected, { schemaRef, profile: 'reader' }), async (runtime) => {
      assert.deepEqual([runtime.warnings, runtime.registry.ceiling.side_effect_level], [[], 'read_only']);
      const session = await runtime.openSession();
      assert.equal((await session.call('file_write', { path: 'a', content: '' })).ok, false);
      assert.equal((await session.call('fs_list', { glob: '*' })).ok, true);
    });
  });

  test('leaves out what cannot run, with the program that is missing, and its rule with it', () => {
    const files: Files = { 'pyproject.toml': '[tool.ruff]\n[tool.pytest]\n', Makefile: 'docs:\n\tx\n' };
    const found = detectProject({ read: (path) => files[path], exists: (path) => path in files, list: () => [] });
    const { detected, missing } = keepPresent(found, (program) => program === 'pytest');
    assert.deepEqual([detected.commands, detected.scripts], [{ test: 'pytest' }, ['pytest']]);
    assert.deepEqual(detected.shellAllow, ['^pytest( .*)?$']);
    const text = renderRegistry(detected, { schemaRef, missing });
    assert.match(text, /^ {2}# lint: 'ruff check \.' # ruff was not found inside the sandbox$/m);
    assert.match(text, /^ {2}# - rule: lint\.must\.pass # needs ruff$/m);
    assert.deepEqual(
      keepPresent(found, () => true),
      { detected: found, missing: {} },
    );
  });

  test('refuses a schema reference that would break out of its line', () => {
    const detected = detectProject({ read: () => undefined, exists: () => false, list: () => [] });
    for (const bad of ['', 'a\nversion: 2', 'a b']) {
      assert.throws(() => renderRegistry(detected, { schemaRef: bad }), TypeError);
    }
    assert.match(
      renderRegistry(detected, { schemaRef: 'https://example.org/s.json' }),
      /=https:\/\/example\.org\/s\.json\n/,
    );
  });
});
