/** tool-runtime hook: lets git itself ask the rules before a commit, for people who commit without the runtime. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { badUsage } from '../../terminal/bad-usage.ts';
import { printJson, printLine } from '../../terminal/terminal.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

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

/**
 * The text of a git hook. It looks for the command where the project has it, then on the path, then where it was when the
 * hook was installed; a hook that finds none of them refuses the commit, because silence would be a pass.
 */
const MARK = '# Written by tool-runtime hook install; tool-runtime hook uninstall removes it.';

interface HookPlaces {
  /** The command's own file, as it was at installation. */
  readonly program: string;
  readonly state?: string;
  readonly registry?: string;
}

function hookScript(name: 'pre-commit' | 'commit-msg', places: HookPlaces): string {
  const options = [
    ...(places.state === undefined ? [] : ['--state', quoted(places.state)]),
    ...(places.registry === undefined ? [] : ['--registry', quoted(places.registry)]),
  ].join(' ');
  return `#!/bin/sh
${MARK}
run() {
  if [ -x node_modules/.bin/tool-runtime ]; then exec node_modules/.bin/tool-runtime "$@"; fi
  if command -v tool-runtime >/dev/null 2>&1; then exec tool-runtime "$@"; fi
  if [ -f ${quoted(places.program)} ]; then exec node ${quoted(places.program)} "$@"; fi
  echo "tool-runtime is not installed: the commit is refused; see tool-runtime hook" >&2
  exit 1
}
cd "$(git rev-parse --show-toplevel)" || exit 1
${name === 'pre-commit' ? preCommit(options) : commitMessage(options)}
`;
}

/** Git passes on the index it is about to commit, which need not be the usual one. */
function preCommit(options: string): string {
  return `index=$(basename "\${GIT_INDEX_FILE:-index}")
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX
run validate --staged --index "$index" ${options}`.trimEnd();
}

/** The file git names is relative to where the hook was started, which is the top of the work tree. */
function commitMessage(options: string): string {
  return `unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX
run validate --staged --rule commit.message.conventional --message-file "$1" ${options}`.trimEnd();
}

function isOurs(text: string): boolean {
  return text.includes(MARK);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
