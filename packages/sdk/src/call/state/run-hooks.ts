/**
 * Hooks of the repository, where the registry says `git.hooks: sandboxed`. Git never starts them: they run in the sandbox of
 * commands, without network, and `.git` is read-only there.
 *
 * They see the frozen index as a copy of their own, and objects they make go to a folder that ends with them. So what a
 * hook stages is not committed: a hook that changes files refuses the commit, and the caller stages them.
 */
import { type ErrorEntry, isToolError, type ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { CommandOutcome, CommandRunner } from '../../contracts/commands.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { FrozenIndex, GitRepository, Publication } from '../../contracts/git.ts';
import type { Registry } from '../../contracts/registry.ts';

export interface HookSetting {
  readonly git: GitRepository;
  readonly commands: CommandRunner;
  readonly registry: Pick<Registry, 'git' | 'isolation' | 'spot'>;
  readonly signal: AbortSignal;
  readonly warnings: ErrorEntry[];
}

interface Hook {
  readonly name: 'pre-commit' | 'prepare-commit-msg' | 'commit-msg' | 'post-commit' | 'pre-push';
  readonly args: readonly string[];
  readonly stdin: string;
  /** Name of the index in the git folder that the hook sees a copy of. */
  readonly index?: string;
  /** Standard input is a file of this name for the hook, and what it holds afterwards is the outcome's output. */
  readonly file?: string;
}

const MAX_OUTPUT_BYTES = 256 * 1024;
const SHOWN_BYTES = 4000;
const MESSAGE = '/tmp/COMMIT_EDITMSG';

/** Arguments: index, file, hook, its arguments. Names that are not used are empty. */
const SCRIPT = `
hook=$3
[ -x "$hook" ] || { [ -z "$2" ] || cat; exit 0; }
if [ -n "$1" ]; then
  mkdir -p /tmp/hook/objects
  [ ! -f "$1" ] || cp "$1" /tmp/hook/index
  GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects
  GIT_OBJECT_DIRECTORY=/tmp/hook/objects
  GIT_INDEX_FILE=/tmp/hook/index
  export GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_OBJECT_DIRECTORY GIT_INDEX_FILE
fi
if [ -z "$2" ]; then shift 2; exec "$@"; fi
file=$2
cat > "$file"
shift 2
"$@" >&2 </dev/null || exit $?
cat "$file"
`;

/** Answers the message to commit with. Throws E_POLICY when a hook refuses the commit or changes files. */
export async function runCommitHooks(
  setting: HookSetting,
  { frozen, message }: { readonly frozen: FrozenIndex; readonly message: string | undefined },
): Promise<string | undefined> {
  const folder = await hookFolder(setting);
  if (folder === undefined) return message;
  const index = await frozen.name();
  const before = await differing(setting);
  await run({ name: 'pre-commit', args: [], stdin: '', index }, folder, setting);
  const changed = [...(await differing(setting))].filter((path) => !before.has(path));
  if (changed.length > 0) throw changedFiles(changed);
  let text = message;
  for (const name of ['prepare-commit-msg', 'commit-msg'] as const) {
    if (text === undefined) break;
    const args = name === 'commit-msg' ? [MESSAGE] : [MESSAGE, 'message'];
    const { stdout } = await run({ name, args, stdin: text, index, file: MESSAGE }, folder, setting);
    if (stdout.truncated || stdout.text.trim() === '') throw emptyMessage(name);
    text = stdout.text;
  }
  return text;
}

/** The commit is made: what this hook says is a warning, and so is its failure. */
export async function runPostCommitHook(setting: HookSetting): Promise<void> {
  const folder = await hookFolder(setting);
  if (folder === undefined) return;
  try {
    await run({ name: 'post-commit', args: [], stdin: '' }, folder, setting);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const { message, details } = thrown;
    setting.warnings.push({
      code: 'E_GIT',
      message: `After the commit: ${message}`,
      details: { ...details, reason: 'hook_failed', next: 'the commit stays; read the output of the hook' },
    });
  }
}

export async function runPushHook(setting: HookSetting, publication: Publication): Promise<void> {
  const folder = await hookFolder(setting);
  if (folder === undefined) return;
  const { remote, hash, branch, destination } = publication;
  const none = '0'.repeat(40);
  const local = branch === undefined ? (hash ?? '(delete)') : `refs/heads/${branch}`;
  const stdin = `${local} ${hash ?? none} ${destination} ${none}\n`;
  await run({ name: 'pre-push', args: [remote.name, remote.url], stdin }, folder, setting);
}

/** Below the work tree; undefined where no hooks run. */
async function hookFolder({ git, registry, warnings }: HookSetting): Promise<string | undefined> {
  if (registry.git.hooks === 'off') return undefined;
  if (registry.isolation === 'none') throw notSandboxed();
  const [config, top] = await Promise.all([
    git.config(),
    git.run({ words: ['rev-parse', '--show-toplevel'], access: 'read' }),
  ]);
  const root = top.stdout.toString('utf8').replace(/\n$/, '');
  const written = config.get('core.hookspath') || '.git/hooks';
  const folder = written.startsWith(`${root}/`) ? written.slice(root.length + 1) : written;
  // A hook of another folder cannot be seen in the sandbox.
  if (!/^[/~]/.test(folder) && !folder.split('/').includes('..')) return `./${folder}`;
  warnings.push({
    code: 'E_GIT',
    message: `Hooks outside the workspace do not run: ${safeText(written, 120)}`,
    details: { reason: 'hooks_outside', next: 'keep hooks in the workspace, or run what they check as a rule' },
  });
  return undefined;
}

async function run(hook: Hook, folder: string, { commands, signal, warnings }: HookSetting): Promise<CommandOutcome> {
  const index = hook.index === undefined ? '' : `.git/${hook.index}`;
  const argv = ['sh', '-c', SCRIPT, 'hook', index, hook.file ?? '', `${folder}/${hook.name}`, ...hook.args];
  const running = await commands.start({
    list: { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] },
    cwd: '.',
    env: { GIT_EDITOR: ':', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' },
    stdin: Buffer.from(hook.stdin),
    network: false,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal,
  });
  const outcome = await running.done;
  signal.throwIfAborted();
  const said = [hook.file === undefined ? outcome.stdout.text : '', outcome.stderr.text].filter(Boolean).join('\n');
  const output = said.slice(-SHOWN_BYTES);
  if (outcome.code !== 0) throw refused(hook.name, outcome, output);
  if (output.trim() !== '') {
    const details = { reason: 'hook_output', hook: hook.name, output, next: 'nothing; the hook passed' };
    warnings.push({ code: 'E_GIT', message: `Hook said something: ${hook.name}`, details });
  }
  return outcome;
}

/** Tracked files of the work tree that are not as the index has them. */
async function differing({ git }: HookSetting): Promise<ReadonlySet<string>> {
  const words = ['diff', '--name-only', '-z', '--no-ext-diff', '--no-renames', '--ignore-submodules=dirty'];
  const { stdout } = await git.run({ words, access: 'read' });
  return new Set(stdout.toString('utf8').split('\0').filter(Boolean));
}

function refused(hook: string, { code, signal }: CommandOutcome, output: string): ToolError {
  return policyDenial(`Hook refused: ${hook}`, {
    details: {
      gate: 'commit',
      reason: 'hook_failed',
      ...{ hook, exit_code: code, signal, output },
      next: 'read the output and fix what it reports; a hook cannot write to .git, and has no network',
    },
  });
}

function changedFiles(paths: readonly string[]): ToolError {
  return policyDenial('Hook changed files: pre-commit', {
    details: {
      gate: 'commit',
      reason: 'hook_changed_files',
      paths: paths.slice(0, 20).map((path) => safeText(path, 200)),
      next: 'look at the changes, git_add them and commit again; what a hook stages is not committed',
    },
  });
}

function emptyMessage(hook: string): ToolError {
  return policyDenial(`Hook left no message: ${hook}`, {
    details: { gate: 'commit', reason: 'hook_failed', hook, next: 'check what the hook does to the message' },
  });
}

function notSandboxed(): ToolError {
  return policyDenial('Hooks cannot run: `git.hooks: sandboxed` needs a sandbox, but `isolation` is none', {
    details: { gate: 'commit', reason: 'no_sandbox', next: 'set isolation: bubblewrap, or git.hooks: off' },
  });
}
