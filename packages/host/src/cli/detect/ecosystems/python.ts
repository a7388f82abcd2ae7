/** Python: the tools the manifests mention, run the way the project's manager runs them. */
import { commandSet } from '../command-set.ts';
import type { Ecosystem, FolderView } from '../detected-project.ts';

const MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'Pipfile', 'requirements.txt'];
const ALSO_READ = ['requirements-dev.txt', 'dev-requirements.txt', 'tox.ini'];
const TEST_GLOBS = ['**/test_*.py', '**/*_test.py', '**/tests/**'];

interface Manager {
  readonly name: string;
  readonly file?: string;
  readonly section?: string;
  /** Put before every command, so that it runs in the project's environment. */
  readonly prefix: string;
}

const MANAGERS: readonly Manager[] = [
  { name: 'uv', file: 'uv.lock', section: 'tool.uv', prefix: 'uv run ' },
  { name: 'poetry', file: 'poetry.lock', section: 'tool.poetry', prefix: 'poetry run ' },
  { name: 'pdm', file: 'pdm.lock', section: 'tool.pdm', prefix: 'pdm run ' },
  { name: 'pipenv', file: 'Pipfile', prefix: 'pipenv run ' },
  // Many build with hatchling and run without hatch: only its environments say that it is the manager.
  { name: 'hatch', section: 'tool.hatch.envs', prefix: 'hatch run ' },
];
const PLAIN: Manager = { name: 'pip', prefix: '' };

export const python: Ecosystem = {
  name: 'python',
  detect(view) {
    if (!MANIFESTS.some((file) => view.exists(file))) return undefined;
    const text = [...MANIFESTS, ...ALSO_READ].map((file) => view.read(file) ?? '').join('\n');
    const manager = MANAGERS.find((one) => isUsed(one, view, text)) ?? PLAIN;
    return {
      languages: ['python'],
      packageManager: manager.name,
      commands: toolCommands(view, text, manager),
      scripts: /pytest/.test(toolCommands(view, text, manager).test ?? '') ? [`${manager.prefix}pytest`] : [],
      testGlobs: TEST_GLOBS,
    };
  },
};

function isUsed({ file, section }: Manager, view: FolderView, text: string): boolean {
  return (file !== undefined && view.exists(file)) || (section !== undefined && hasSection(text, section));
}

function hasSection(text: string, section: string): boolean {
  return text.split('\n').some((line) => line.startsWith(`[${section}]`) || line.startsWith(`[${section}.`));
}

function toolCommands(view: FolderView, text: string, manager: Manager) {
  // In a folder below, a manager's environment cannot be named from the root in one form for all of them.
  if (view.folder !== '' && manager.prefix !== '') return {};
  const here = view.folder === '' ? '.' : view.folder;
  const mentions = (tool: string) => new RegExp(`(?:^|[^\\w-])${tool}(?![\\w-])`, 'm').test(text);
  const run = (isThere: boolean, command: string) => (isThere ? `${manager.prefix}${command}` : undefined);
  const hasPytest = mentions('pytest') || view.exists('pytest.ini') || view.exists('conftest.py');
  const hasRuff = mentions('ruff') || view.exists('ruff.toml') || view.exists('.ruff.toml');
  const hasTests = view.folder === '' && (view.exists('tests') || view.exists('test'));
  return commandSet({
    build:
      run(mentions('mypy') || view.exists('mypy.ini'), `mypy ${here}`) ?? run(mentions('pyright'), `pyright ${here}`),
    test:
      run(hasPytest, view.folder === '' ? 'pytest' : `pytest ${here}`) ?? run(hasTests, 'python3 -m unittest discover'),
    lint: run(hasRuff, `ruff check ${here}`) ?? run(mentions('flake8') || view.exists('.flake8'), `flake8 ${here}`),
    fmt: run(mentions('black'), `black --check ${here}`) ?? run(hasRuff, `ruff format --check ${here}`),
  });
}
