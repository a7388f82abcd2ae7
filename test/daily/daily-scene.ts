/** A workspace as a new user sets it up: a repository with two remotes, `init --for agent`, `trust`, and an MCP client on stdio. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startClient } from '../../packages/host/test/mcp/start-client.ts';
import { createScratch, runCli } from '../../packages/host/test/run-cli.ts';
import { createRepository, type Language } from '../../packages/sdk/test/command-lines/repositories.ts';
import { startGitHttpServer } from '../../packages/sdk/test/git-http-server.ts';
import type { SshServer } from '../../packages/sdk/test/ssh-server.ts';

export interface DailyScene {
  readonly folder: string;
  /** The bare repository that both remotes lead to: `web` over HTTP, `origin` over ssh. */
  readonly bare: string;
  read(path: string): string;
  /** Real git outside the runtime, in the work tree. */
  git(...words: readonly string[]): string;
  /** What the bare repository's branch points to. */
  remoteHead(branch?: string): string;
  /** A colleague replaces text in a file of a clone of their own, and pushes. */
  colleague(path: string, change: (text: string) => string): string;
  /** The text a model reads. A tool that is not listed is looked up and called the way a model has to. */
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The text of a refusal; an answer fails the test. */
  refused(tool: string, args?: Readonly<Record<string, unknown>>): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface DailyOptions {
  readonly ssh: SshServer;
  /** Written and committed before anything else. */
  readonly files?: Readonly<Record<string, string>>;
  /** Runs real git commands after that. */
  readonly settings?: readonly (readonly string[])[];
  readonly hooks?: 'sandboxed';
}

/** Git outside would start git-lfs, which is not there. */
const WITHOUT_LFS = ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((word) => ['-c', `filter.lfs.${word}`]);

export async function openDailyScene(language: Language, options: DailyOptions): Promise<DailyScene> {
  const { ssh } = options;
  const scratch = createScratch();
  const root = realpathSync(scratch.root);
  const [folder, bare] = [join(root, 'workspace'), join(root, 'remote.git')];
  const env = { HOME: ssh.home, SSH_AUTH_SOCK: ssh.agent, GIT_CONFIG_NOSYSTEM: '1' };
  const gitIn = (place: string, words: readonly string[]): string =>
    execFileSync('git', [...WITHOUT_LFS, ...words], {
      cwd: place,
      encoding: 'utf8',
      env: { ...process.env, ...env },
      stdio: 'pipe',
    });
  const git = (...words: readonly string[]): string => gitIn(folder, words).trimEnd();
  createRepository(language, folder);
  for (const [path, text] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  git('add', '-A');
  git('commit', '--quiet', '--allow-empty', '-m', 'chore: set up');
  for (const words of options.settings ?? []) git(...words);
  gitIn(root, ['clone', '--quiet', '--bare', folder, bare]);
  const http = await startGitHttpServer({ root });
  git('remote', 'add', 'web', http.url('remote.git'));
  git('remote', 'add', 'origin', ssh.url(bare));
  const cli = async (...words: readonly string[]): Promise<void> => {
    const { code, stderr } = await runCli([...words, ...scratch.options], { env });
    assert.equal(code, 0, stderr);
  };
  await cli('init', '--for', 'agent');
  allowRemotes(join(folder, 'tool-runtime.yaml'), [http.host, ssh.domain], options.hooks);
  await cli('trust');
  const client = await startClient(scratch.options, env);
  const ask = (tool: string, args: Readonly<Record<string, unknown>>) =>
    client.listed.has(tool) ? client.call(tool, args) : client.call('tool_call', { tool, args });
  return {
    folder,
    bare,
    git,
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    remoteHead: (branch = 'main') => git('--git-dir', bare, 'rev-parse', `refs/heads/${branch}`),
    colleague(path, change) {
      const clone = join(root, 'colleague');
      gitIn(root, ['clone', '--quiet', bare, clone]);
      writeFileSync(join(clone, path), change(readFileSync(join(clone, path), 'utf8')));
      const who = ['-c', 'user.name=Bob', '-c', 'user.email=bob@example.com'];
      gitIn(clone, [...who, 'commit', '--quiet', '--all', '-m', 'refactor: theirs']);
      gitIn(clone, ['push', '--quiet', 'origin', 'main']);
      return gitIn(clone, ['rev-parse', 'HEAD']).trimEnd();
    },
    async call(tool, args = {}) {
      const { text, isError } = await ask(tool, args);
      assert.ok(!isError, `${tool}: ${text}`);
      return text;
    },
    async refused(tool, args = {}) {
      const { text, isError } = await ask(tool, args);
      assert.ok(isError, `${tool}: ${text}`);
      return text;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await http.close();
      scratch[Symbol.dispose]();
    },
  };
}

/** What a user changes in the registry that `init` wrote. */
function allowRemotes(file: string, hosts: readonly string[], hooks: 'sandboxed' | undefined): void {
  const text = readFileSync(file, 'utf8')
    .replace('allowed_domains: []', `allowed_domains: [${hosts.map((host) => `'${host}'`).join(', ')}]`)
    .replace('allow_push: false', `allow_push: true${hooks === undefined ? '' : `\n  hooks: ${hooks}`}`);
  writeFileSync(file, text);
}
