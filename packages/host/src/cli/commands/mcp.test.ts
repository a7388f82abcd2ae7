import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, jsonLines, runCli, type Scratch } from '../../../test/run-cli.ts';

const EVERYTHING = join(
  import.meta.dirname,
  '../../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);
const MODULES = join(import.meta.dirname, '../../../../../node_modules');

/** A home of its own: no test may touch the files of the user who runs it. */
function atHome(scratch: Scratch): { env: Record<string, string> } {
  const home = join(scratch.root, 'home');
  mkdirSync(home, { recursive: true });
  return { env: { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), CODEX_HOME: '' } };
}

describe('tool-runtime mcp install', () => {
  test('without a terminal shows the diff, writes nothing and ends with 2; --yes writes it', async () => {
    using scratch = createScratch();
    const file = join(scratch.workspace, '.mcp.json');
    const args = ['mcp', 'install', 'claude-code', '--workspace', scratch.workspace, '--profile', 'full'];
    const asked = await runCli(args, atHome(scratch));
    assert.equal(asked.code, 2);
    assert.match(asked.stdout, /^--- \/dev\/null\n\+\+\+ .*\.mcp\.json\n@@ -0,0 \+1,\d+ @@\n\+\{\n/);
    assert.match(asked.stderr, /nothing written: say --yes/);
    assert.equal(existsSync(file), false);

    const written = await runCli([...args, '--yes'], atHome(scratch));
    assert.deepEqual([written.code, written.stderr], [0, '']);
    const { command, args: words } = JSON.parse(readFileSync(file, 'utf8')).mcpServers['tool-runtime'];
    assert.equal(command, process.execPath);
    assert.ok(existsSync(words[0]));
    assert.deepEqual(words.slice(1), ['mcp', '--workspace', scratch.workspace, '--profile', 'full']);

    const again = await runCli([...args, '--json'], atHome(scratch));
    assert.deepEqual([again.code, jsonLines(again.stdout)], [0, [{ file, changed: false, written: false }]]);
  });

  test('--print shows the entry alone and needs no place to write', async () => {
    using scratch = createScratch();
    const args = [
      'mcp',
      'install',
      'codex',
      '--print',
      '--portable',
      '--name',
      'mine',
      '--workspace',
      scratch.workspace,
    ];
    const { code, stdout } = await runCli(args, atHome(scratch));
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^\[mcp_servers\.mine\]\ncommand = "npx"\nargs = \["-y", "@tool-runtime\/host@[^"]+", "mcp", "--workspace", "\."\]\n$/,
    );
    assert.equal(existsSync(join(scratch.root, 'home', '.codex')), false);
  });

  test('writes every client under its usual name, shortened or not (deep)', async () => {
    using scratch = createScratch();
    const places = {
      'claude-code': 'workspace/.mcp.json',
      codex: 'home/.codex/config.toml',
      cursor: 'workspace/.cursor/mcp.json',
      gemini: 'home/.gemini/settings.json',
      opencode: 'workspace/opencode.json',
      vscode: 'workspace/.vscode/mcp.json',
      zed: 'home/.config/zed/settings.json',
    };
    for (const [client, place] of Object.entries(places)) {
      const { code, stderr } = await runCli(
        ['mcp', 'install', client, '-y', '--workspace', scratch.workspace],
        atHome(scratch),
      );
      assert.equal(code, 0, stderr);
      assert.match(readFileSync(join(scratch.root, place), 'utf8'), /tool-runtime\.js/, client);
    }
  });

  test('refuses files that do not parse and links that lead elsewhere, and leaves both alone', async () => {
    using scratch = createScratch();
    const args = ['mcp', 'install', 'claude-code', '-y', '--workspace', scratch.workspace];
    scratch.write('.mcp.json', '{"mcpServers": {,}}');
    const broken = await runCli(args, atHome(scratch));
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /E_VALIDATION_FAIL Not understood at 1:17/);
    assert.equal(readFileSync(join(scratch.workspace, '.mcp.json'), 'utf8'), '{"mcpServers": {,}}');

    writeFileSync(join(scratch.root, 'theirs.json'), '{}');
    mkdirSync(join(scratch.workspace, '.cursor'));
    symlinkSync(join(scratch.root, 'theirs.json'), join(scratch.workspace, '.cursor', 'mcp.json'));
    const linked = await runCli(['mcp', 'install', 'cursor', '-y', '--workspace', scratch.workspace], atHome(scratch));
    assert.equal(linked.code, 2);
    assert.match(linked.stderr, /E_POLICY A link leads out of/);
    assert.equal(readFileSync(join(scratch.root, 'theirs.json'), 'utf8'), '{}');
  });

  test('says what is wrong with the command line', async () => {
    using scratch = createScratch();
    for (const [words, problem] of [
      [['emacs'], /No such client: emacs\n {2}next: name one of claude-code, codex, cursor/],
      [['c'], /No such client: c\n/],
      [['zed', '--name', 'a b'], /--name takes/],
      [['zed', '--global', '--project'], /cannot be used together/],
      [['zed', '--http', 'ftp://x'], /--http takes an http or https URL/],
      [['zed', '--http', 'http://a:b@x'], /--http takes no credentials/],
      [['claude-code', '--global'], /next: run: claude mcp add --scope user tool-runtime -- /],
    ] as const) {
      const { code, stderr } = await runCli(
        ['mcp', 'install', ...words, '--workspace', scratch.workspace],
        atHome(scratch),
      );
      assert.equal(code, 2);
      assert.match(stderr, problem);
    }
  });
});

describe('tool-runtime mcp add, list, approve, remove', () => {
  test('mounts a real server, shows and approves its definitions, and takes it out again (deep)', async () => {
    using scratch = createScratch();
    const registry = join(scratch.root, 'registry.yaml');
    writeFileSync(registry, '# mine\nversion: 1\n');
    const options = [...scratch.options, '--registry', registry];
    const server = ['--', process.execPath, EVERYTHING, 'stdio'];
    const reads = ['--read-path', MODULES];

    const added = await runCli(['mcp', 'add', 'every', '-y', ...reads, ...options, ...server]);
    assert.equal(added.code, 0, added.stderr);
    assert.match(readFileSync(registry, 'utf8'), /^# mine\nversion: 1\n\nmcp_servers:\n {2}every:\n {4}command:\n/);

    const listed = await runCli(['mcp', 'list', '--json', ...options]);
    assert.deepEqual(
      jsonLines(listed.stdout).map(({ name, approved, waiting }) => [name, approved, waiting]),
      [['every', [], []]],
    );

    const asked = await runCli(['mcp', 'approve', 'every', 'echo', ...options]);
    assert.equal(asked.code, 2, asked.stderr);
    assert.match(asked.stdout, /^echo is new\n--- \/dev\/null\n\+\+\+ echo\n@@ [^\n]+\n\+\{\n\+ {2}"name": "echo",\n/);
    const approved = await runCli(['mcp', 'approve', 'every', 'echo', '--yes', '--json', ...options]);
    assert.deepEqual([approved.code, jsonLines(approved.stdout)], [0, [{ approved: ['echo'] }]]);
    const none = await runCli(['mcp', 'approve', 'every', 'no-such-tool', ...options]);
    assert.deepEqual([none.code, /Server has no such tool/.test(none.stderr)], [2, true]);

    const after = await runCli(['mcp', 'list', ...options]);
    assert.match(after.stdout, /\n {2}1 approved: echo\n {2}\d+ waiting: .*: tool-runtime mcp approve every\n$/);

    const removed = await runCli(['mcp', 'remove', 'every', '-y', ...options]);
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal(readFileSync(registry, 'utf8'), '# mine\nversion: 1\n');
    const gone = await runCli(['mcp', 'remove', 'every', '-y', ...options]);
    assert.deepEqual([gone.code, /No such server/.test(gone.stderr)], [2, true]);
  });

  test('does not write what no runtime would open (deep)', async () => {
    using scratch = createScratch();
    const bad = await runCli([
      'mcp',
      'add',
      'x',
      '-y',
      '--prefix',
      'MUCH TOO LONG A PREFIX',
      '--url',
      'https://x.example',
      ...scratch.options,
    ]);
    assert.equal(bad.code, 2);
    assert.match(bad.stderr, /prefix/);
    assert.equal(existsSync(join(scratch.workspace, 'tool-runtime.yaml')), false);
    for (const words of [['--url', 'https://x.example', '--', 'cmd'], []]) {
      const both = await runCli(['mcp', 'add', 'x', ...scratch.options, ...words]);
      assert.deepEqual([both.code, /a command or a --url/.test(both.stderr)], [2, true]);
    }
    const fine = await runCli([
      'mcp',
      'add',
      'x',
      '-y',
      '--url',
      'https://x.example',
      '--tools',
      'a, b*',
      ...scratch.options,
    ]);
    assert.equal(fine.code, 0, fine.stderr);
    assert.match(readFileSync(join(scratch.workspace, 'tool-runtime.yaml'), 'utf8'), /tools:\n {6}- a\n {6}- b\*\n$/);
    assert.match(fine.stderr, /read it, then: tool-runtime trust/);
  });
});
