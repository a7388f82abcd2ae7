/** Ruby with Bundler. Below the root Bundler would need another folder to work in, so there it has no commands. */
import { commandSet } from '../command-set.ts';
import type { Ecosystem } from '../detected-project.ts';

export const ruby: Ecosystem = {
  name: 'ruby',
  detect(view) {
    const gemfile = view.read('Gemfile');
    if (gemfile === undefined) return undefined;
    const gems = [gemfile, view.read('Gemfile.lock') ?? ''].join('\n');
    const rakefile = view.read('Rakefile') ?? '';
    const hasSpecs = view.exists('.rspec') || /\brspec\b/.test(gems);
    const hasRakeTest = /\bRake::TestTask\b|\btask\s*\(?:test\b/.test(rakefile);
    const hasCop = view.exists('.rubocop.yml') || /\brubocop\b/.test(gems);
    const isRoot = view.folder === '';
    return {
      languages: ['ruby'],
      packageManager: 'bundler',
      commands: commandSet({
        build: undefined,
        test: isRoot ? rubyTest(hasSpecs, hasRakeTest) : undefined,
        lint: isRoot && hasCop ? 'bundle exec rubocop' : undefined,
        fmt: undefined,
      }),
      testGlobs: ['**/spec/**', '**/test/**'],
    };
  },
};

function rubyTest(hasSpecs: boolean, hasRakeTest: boolean): string | undefined {
  if (hasSpecs) return 'bundle exec rspec';
  return hasRakeTest ? 'bundle exec rake test' : undefined;
}
