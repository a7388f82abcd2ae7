/**
 * The text of a git hook. It looks for the command where the project has it, then on the path, then where it was when the
 * hook was installed; a hook that finds none of them refuses the commit, because silence would be a pass.
 */
const MARK = '# Written by tool-runtime hook install; tool-runtime hook uninstall removes it.';

export interface HookPlaces {
  /** The command's own file, as it was at installation. */
  readonly program: string;
  readonly state?: string;
  readonly registry?: string;
}

export function hookScript(name: 'pre-commit' | 'commit-msg', places: HookPlaces): string {
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

/** Git hands over the index it is about to commit, which need not be the usual one. */
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

export function isOurs(text: string): boolean {
  return text.includes(MARK);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
