/** Everyday command lines do in the sandbox what bash does outside of it: same output, same exit code, same files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { openScratchRuntime } from '../../src/testing/scratch-runtime.ts';
import { createRepository, LANGUAGES, type Language } from './repositories.ts';

/** Without toolchains of the machine, which a shell without startup files does not find either. */
const REGISTRY = { file: 'ops.yaml', text: 'version: 1\nshell: { mode: sandboxed }\nsandbox: { toolchains: [] }\n' };
const SHARE_THAT_MUST_AGREE = 0.92;

interface Line {
  readonly text: string;
  /** Why the sandbox must answer differently. */
  readonly reason: string | undefined;
}

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly files: Readonly<Record<string, string>>;
}

describe('sandboxed command lines', () => {
  for (const language of LANGUAGES) {
    test(`command lines in a ${language} repository behave as in bash`, () => compareAll(language));
  }

  test('at least 200 lines are compared and at most 8 % of them have a reason to differ', () => {
    const all = LANGUAGES.flatMap(readLines);
    assert.ok(all.length >= 200, `${all.length} lines`);
    assert.ok(all.filter((line) => line.reason === undefined).length / all.length >= SHARE_THAT_MUST_AGREE);
  });
});

async function compareAll(language: Language): Promise<void> {
  const scratch = await openScratchRuntime({ registry: REGISTRY });
  const outside = mkdtempSync(join(tmpdir(), 'tool-runtime-outside-'));
  try {
    const inside = folderWith(language, scratch.workspace);
    const plain = folderWith(language, join(outside, 'workspace'));
    const wrong: object[] = [];
    for (const { text, reason } of readLines(language)) {
      const expected = { ...runOutside(text, join(outside, 'workspace')), files: plain.takeFiles() };
      const response = await scratch.session.call('shell_exec', { cmd: text, timeout_ms: 120_000 });
      const { code, stdout, stderr } = (response.data ?? {}) as unknown as Result;
      const actual = {
        ...(response.ok ? normalise({ code, stdout, stderr }, scratch.workspace) : { refused: response.errors }),
        files: inside.takeFiles(),
      };
      const same = sameJson(actual, expected);
      if (same !== (reason === undefined)) wrong.push({ text, ...(reason && { reason }), actual, expected });
    }
    assert.deepEqual(wrong, []);
  } finally {
    await scratch.dispose();
    rmSync(outside, { recursive: true, force: true });
  }
}

/** `$ ` begins a line, other lines continue it; `# reason: …` before it says why it must differ. */
function readLines(language: Language): readonly Line[] {
  const lines: Line[] = [];
  let reason: string | undefined;
  for (const record of readFileSync(new URL(`${language}.txt`, import.meta.url), 'utf8').split(
    /\n(?=\$ |# reason: )/,
  )) {
    if (record.startsWith('# reason: ')) {
      reason = record.slice('# reason: '.length);
    } else {
      lines.push({ text: record.slice(2).trimEnd(), reason });
      reason = undefined;
    }
  }
  return lines;
}

/** bash with the whole file system and without a network. It sees no processes of others, whose number changes. */
function runOutside(text: string, workspace: string): Omit<Result, 'files'> {
  const home = join(workspace, '..', 'home');
  mkdirSync(home, { recursive: true });
  const alone = ['--unshare-net', '--unshare-pid', '--proc', '/proc', '--die-with-parent'];
  const wrapper = ['--dev-bind', '/', '/', ...alone, '--chdir', workspace];
  const run = spawnSync('bwrap', [...wrapper, 'bash', '--noprofile', '--norc', '-c', text], {
    encoding: 'utf8',
    input: '',
    env: {
      PATH: [join(workspace, 'node_modules/.bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: home,
      USER: 'user',
      LANG: 'C.UTF-8',
      GOPROXY: 'off',
      npm_config_fetch_retries: '0',
      npm_config_update_notifier: 'false',
      PIP_NO_INDEX: '1',
    },
  });
  return normalise({ code: run.status, stdout: run.stdout, stderr: run.stderr }, workspace);
}

/** Digits on standard error are times and process ids. */
function normalise(result: Omit<Result, 'files'>, workspace: string): Omit<Result, 'files'> {
  const place = (text: string): string => text.replaceAll(workspace, '/workspace');
  return {
    code: result.code,
    stdout: place(result.stdout),
    stderr: place(result.stderr).replaceAll(/ *\d+/g, ' 0'),
  };
}

/** A repository whose changed files can be listed; listing them takes the changes back. */
function folderWith(language: Language, folder: string): { takeFiles(): Readonly<Record<string, string>> } {
  mkdirSync(folder, { recursive: true });
  createRepository(language, folder);
  const kept = mkdtempSync(join(tmpdir(), 'tool-runtime-git-'));
  cpSync(join(folder, '.git'), kept, { recursive: true });
  const before = listFiles(folder);
  return {
    takeFiles() {
      const changed = Object.fromEntries(
        Object.entries(listFiles(folder)).filter(([path, was]) => before[path] !== was),
      );
      const gone = Object.keys(before).filter(
        (path) => lstatSync(join(folder, path), { throwIfNoEntry: false }) === undefined,
      );
      rmSync(join(folder, '.git'), { recursive: true });
      cpSync(kept, join(folder, '.git'), { recursive: true });
      for (const args of [
        ['reset', '-q', '--hard'],
        ['clean', '-fdxq', '-e', 'node_modules'],
      ]) {
        spawnSync('git', args, { cwd: folder });
      }
      return { ...changed, ...Object.fromEntries(gone.map((path) => [path, 'gone'])) };
    },
  };
}

/** Path to mode and content; compiled files hold paths and times, so that only their existence counts. */
function listFiles(root: string, folder = root): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (['.git', 'node_modules', '__pycache__'].includes(entry.name)) continue;
    const name = relative(root, path);
    if (entry.isDirectory()) Object.assign(found, { [name]: 'folder' }, listFiles(root, path));
    else if (entry.isSymbolicLink()) found[name] = `link to ${readlinkSync(path)}`;
    else if (entry.isFile()) found[name] = describeFile(path);
    else found[name] = 'special';
  }
  return found;
}

function describeFile(path: string): string {
  const bytes = readFileSync(path);
  const content = bytes.includes(0) ? 'binary' : createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return `${(lstatSync(path).mode & 0o777).toString(8)} ${content}`;
}

const sameJson = (left: unknown, right: unknown): boolean => {
  try {
    assert.deepEqual(left, right);
    return true;
  } catch {
    return false;
  }
};
