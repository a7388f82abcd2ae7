/**
 * Go modules and workspaces.
 *
 * `gofmt -l` names the files it would change and ends with 0 all the same. Compared with nothing, its output makes the
 * command fail; it runs once by itself before, which shows the bare names and fails where a file cannot be read.
 */
import type { Ecosystem, FolderView } from '../detected-project.ts';

const LINTER_FILES = ['.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'];
const PLAIN_FOLDER = /^(?:\.\/)?[\w.-]+(?:\/[\w.-]+)*$/;

export const go: Ecosystem = {
  name: 'go',
  detect(view) {
    if (!view.exists('go.mod') && !view.exists('go.work')) return undefined;
    const place = view.folder === '' ? '' : ` -C ${view.folder}`;
    const packages = view.exists('go.mod') ? './...' : workspacePackages(view);
    const hasLinter = view.folder === '' && LINTER_FILES.some((file) => view.exists(file));
    return {
      languages: ['go'],
      packageManager: 'go',
      commands: {
        build: `go${place} build ${packages}`,
        test: `go${place} test ${packages}`,
        lint: hasLinter ? 'golangci-lint run' : `go${place} vet ${packages}`,
        fmt: formatCheck(view.folder === '' ? '.' : view.folder),
      },
      testGlobs: ['**/*_test.go'],
      scripts: ['build', 'test', 'vet', 'list', 'doc'].map((name) => `go ${name}`),
    };
  },
};

function formatCheck(folder: string): string {
  return `gofmt -l ${folder} && gofmt -l ${folder} | diff - /dev/null`;
}

/** A workspace without a module at its root has packages only in the folders it uses. */
function workspacePackages(view: FolderView): string {
  const lines = (view.read('go.work') ?? '').split('\n').map((line) => line.replace(/\/\/.*$/, '').trim());
  const used = lines
    .map((line) => line.replace(/^use\s+/, ''))
    .filter((line) => line.startsWith('./') && PLAIN_FOLDER.test(line) && !line.includes('..'));
  return used.length === 0 ? './...' : used.map((folder) => `${folder}/...`).join(' ');
}
