/** PHP with Composer: its scripts first, else the tools that composer.json requires. */
import type { JsonObject } from '@tool-runtime/protocol';
import { type ChosenScripts, chooseScripts, objectAt, parseObject } from '../choose-scripts.ts';
import { commandSet } from '../command-set.ts';
import type { Ecosystem } from '../detected-project.ts';

type Step = keyof ChosenScripts;

/** Package → the step it does and how, run from the root. */
const TOOLS: readonly (readonly [string, Step, string])[] = [
  ['phpunit/phpunit', 'test', 'php vendor/bin/phpunit'],
  ['pestphp/pest', 'test', 'php vendor/bin/pest'],
  ['phpstan/phpstan', 'lint', 'php vendor/bin/phpstan analyse --no-progress'],
  ['vimeo/psalm', 'lint', 'php vendor/bin/psalm --no-progress'],
  ['squizlabs/php_codesniffer', 'lint', 'php vendor/bin/phpcs'],
  ['laravel/pint', 'fmt', 'php vendor/bin/pint --test'],
  ['friendsofphp/php-cs-fixer', 'fmt', 'php vendor/bin/php-cs-fixer fix --dry-run --diff'],
];

export const composer: Ecosystem = {
  name: 'composer',
  detect(view) {
    const text = view.read('composer.json');
    if (text === undefined) return undefined;
    const manifest = parseObject(text);
    const chosen = chooseScripts(namedScripts(objectAt(manifest, 'scripts')));
    const required = { ...objectAt(manifest, 'require'), ...objectAt(manifest, 'require-dev') };
    const place = view.folder === '' ? '' : ` --working-dir=${view.folder}`;
    const commandFor = (step: Step) => {
      if (chosen[step] !== undefined) return `composer${place} run-script ${chosen[step]}`;
      return view.folder === '' ? TOOLS.find(([name, does]) => does === step && name in required)?.[2] : undefined;
    };
    return {
      languages: ['php'],
      packageManager: 'composer',
      commands: commandSet({
        build: commandFor('build'),
        test: commandFor('test'),
        lint: commandFor('lint'),
        fmt: commandFor('fmt'),
      }),
      testGlobs: ['**/tests/**', '**/*Test.php'],
    };
  },
};

/** A script is a line, a list of lines, or `@name` for another script. */
function namedScripts(scripts: JsonObject) {
  const textOf = (name: string, seen: ReadonlySet<string> = new Set()): string => {
    if (seen.has(name) || !Object.hasOwn(scripts, name)) return '';
    const lines = [scripts[name]].flat().filter((line) => typeof line === 'string');
    const called = lines.filter((line) => line.startsWith('@')).map((line) => line.slice(1).split(/\s/)[0] ?? '');
    return [...lines, ...called.map((other) => textOf(other, new Set([...seen, name])))].join('\n');
  };
  return { has: (name: string) => textOf(name) !== '', textOf: (name: string) => textOf(name) };
}
