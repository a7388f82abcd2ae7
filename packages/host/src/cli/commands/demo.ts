/** tool-runtime demo: a small workspace in which every line of the README works. Never writes into a folder in use. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, opendirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { badUsage } from '../../terminal/bad-usage.ts';
import { printJson, printLine } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

const FOLDER = 'tool-runtime-demo';

const FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'demo', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'README.md': '# Demo\n\nReads settings written as `key = value`.\n',
  'src/parser.js': `/** Reads \`key = value\` lines. TODO: comments */
export function parseConfig(text) {
  const pairs = text.split('\\n').filter((line) => line.includes('='));
  return Object.fromEntries(pairs.map((line) => line.split('=').map((part) => part.trim())));
}
`,
  'src/main.js': `import { parseConfig } from './parser.js';

export function portOf(text) {
  return Number(parseConfig(text).port ?? 80);
}
`,
  'test/parser.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portOf } from '../src/main.js';

test('reads the port', () => assert.equal(portOf('host = a\\nport = 8080'), 8080));
test('falls back to 80', () => assert.equal(portOf(''), 80));
`,
  'tool-runtime.yaml': `version: 1
shell_allow: ['^npm test$']           # commands run in the sandbox; all others are refused
shell_deny: ['^rm ']
network:
  allowed_domains: [api.example.org]  # no other host, and none without this line
arg_constraints:
  - tool: file_write                  # writes go to these folders
    arg_patterns: ['src/**', 'test/**', 'docs/**']
approvals:
  auto_approve: ['file_*', 'ast_*', 'git_*', shell_exec]
  require_approval: [fs_delete]       # a person is asked; if none can be, the answer is no
validators:
  - rule: secrets.scan                # a commit with a secret in it is refused
`,
};

const NEXT: readonly (readonly [line: string, about: string])[] = [
  ['tool-runtime call file_read path=src/parser.js', 'read a file'],
  ["tool-runtime call shell_exec cmd='npm test'", 'run the tests in the sandbox'],
  ['tool-runtime call file_read path=../secret.txt', 'refused: outside the workspace'],
  ['tool-runtime audit list', 'what was called, and what became of it'],
  ['tool-runtime mcp install claude-code', 'let an agent work here'],
];

export const demo = defineCommand({
  name: 'demo',
  summary: 'Make a small workspace to try things in: a git repository with sources, tests and a trusted registry',
  configure(command, done) {
    withSharedOptions(command)
      .argument('[folder]', 'new or empty folder', FOLDER)
      .action(async (folder: string, options: SharedOptions) => {
        const workspace = resolve(options.workspace, folder);
        makeRepository(workspace);
        const { trustWorkspaceFiles } = await import('@tool-runtime/sdk');
        await trustWorkspaceFiles({ ...options, workspace });
        if (options.json === true) printJson({ workspace, files: Object.keys(FILES) }, { compact: true });
        else describe(folder);
        done(0);
      });
  },
});

function makeRepository(workspace: string): void {
  if (existsSync(workspace) && !isEmpty(workspace)) {
    throw badUsage(`Folder is not empty: ${workspace}`, 'name another folder: tool-runtime demo FOLDER');
  }
  for (const [name, text] of Object.entries(FILES)) {
    const file = join(workspace, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  }
  git(workspace, 'init', '-q', '-b', 'main');
  git(workspace, 'config', 'user.name', 'Demo');
  git(workspace, 'config', 'user.email', 'demo@example.org');
  git(workspace, 'add', '.');
  git(workspace, 'commit', '-q', '--no-verify', '--no-gpg-sign', '-m', 'feat: begin');
}

function isEmpty(folder: string): boolean {
  const opened = opendirSync(folder);
  const first = opened.readSync();
  opened.closeSync();
  return first === null;
}

/** Without the settings of the user, which may sign, template or hook the commit. */
function git(workspace: string, ...words: readonly string[]): void {
  const env = { PATH: process.env['PATH'], HOME: workspace, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  try {
    execFileSync('git', words, { cwd: workspace, env, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'git is not installed' : `git ${words[0]} failed`;
    throw badUsage(
      `Cannot make the repository: ${why}`,
      isMissing ? 'install git' : `remove ${workspace}, then repeat`,
    );
  }
}

function describe(folder: string): void {
  printLine(`made ${folder}: sources, tests, a git repository, a trusted tool-runtime.yaml`);
  printLine('try');
  for (const [line, about] of [[`cd ${folder}`, ''] as const, ...NEXT]) {
    printLine(about === '' ? `  ${line}` : `  ${line.padEnd(48)} # ${about}`);
  }
}
