/** tool-runtime hook: lets git itself ask the rules before a commit, for people who commit without the runtime. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { badUsage } from '../../terminal/bad-usage.ts';
import { printJson, printLine } from '../../terminal/terminal.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { hookScript, isOurs } from '../hook-script.ts';

const HOOKS = ['pre-commit', 'commit-msg'] as const;

export const hook = defineCommand({
  name: 'hook',
  summary: 'Install or remove git hooks that run the rules before a commit',
  configure(command, done) {
    const install = command.command('install').description('write pre-commit and commit-msg; hooks of others are kept');
    withSharedOptions(install).action((options: SharedOptions) => {
      report(options, 'installed', installHooks(options));
      done(0);
    });
    const uninstall = command.command('uninstall').description('remove the hooks that install wrote');
    withSharedOptions(uninstall).action((options: SharedOptions) => {
      report(options, 'removed', removeHooks(options));
      done(0);
    });
  },
});

function report(options: SharedOptions, verb: string, names: readonly string[]): void {
  if (options.json === true) printJson({ [verb]: names }, { compact: true });
  else printLine(names.length === 0 ? `nothing ${verb}` : `${verb} ${names.join(', ')}`);
}

function installHooks(options: SharedOptions): readonly string[] {
  const folder = hooksFolder(options);
  const foreign = HOOKS.filter(
    (name) => existsSync(join(folder, name)) && !isOurs(readFileSync(join(folder, name), 'utf8')),
  );
  if (foreign.length > 0) {
    throw badUsage(
      `Hook exists already: ${foreign.join(', ')}`,
      `call tool-runtime validate --staged from it, or move it away first (${folder})`,
    );
  }
  mkdirSync(folder, { recursive: true });
  for (const name of HOOKS) {
    writeFileSync(join(folder, name), hookScript(name, { program: ownProgram(), ...places(options) }));
    chmodSync(join(folder, name), 0o755);
  }
  return HOOKS;
}

function removeHooks(options: SharedOptions): readonly string[] {
  const folder = hooksFolder(options);
  const ours = HOOKS.filter(
    (name) => existsSync(join(folder, name)) && isOurs(readFileSync(join(folder, name), 'utf8')),
  );
  for (const name of ours) rmSync(join(folder, name));
  return ours;
}

/** Git's own word on where hooks lie: a linked work tree or core.hooksPath may put them elsewhere. */
function hooksFolder({ workspace }: SharedOptions): string {
  checkWorkspace(workspace);
  try {
    const said = execFileSync('git', ['rev-parse', '--git-path', 'hooks'], {
      cwd: workspace,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return resolve(workspace, said.trim());
  } catch {
    throw badUsage(`Not a git repository: ${workspace}`, 'run git init first');
  }
}

function ownProgram(): string {
  return realpathSync(process.argv[1] ?? '');
}

function places({ state, registry }: SharedOptions): { readonly state?: string; readonly registry?: string } {
  return {
    ...(state === undefined ? {} : { state: resolve(state) }),
    ...(registry === undefined ? {} : { registry: resolve(registry) }),
  };
}
