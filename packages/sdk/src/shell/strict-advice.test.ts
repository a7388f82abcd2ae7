import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { compileAllowlistPattern } from '../pattern/compile-pattern.ts';
import * as catalog from '../tools/catalog.ts';
import { judgeCommands } from './judge-commands.ts';
import { OPTION_RULES } from './option-rules.ts';
import { parseCommandLine } from './read-command.ts';
import { GIT_TOOLS, literalPattern } from './strict-advice.ts';

const ALLOW = ['^(npm|ls|cat|find|node|make|wc|echo|test|git|grep) ?', '^npx (eslint|tape)( [\\w./-]+)*$'];

/** Undefined: it may run. */
function adviceFor(line: string, allow: readonly string[] = ALLOW): string | undefined {
  try {
    judgeCommands(parseCommandLine(line), { allow: allow.map(compileAllowlistPattern), optionRules: OPTION_RULES });
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    return String(thrown.details['next']);
  }
}

describe('the next step after a line that strict mode refuses', () => {
  const rows: readonly (readonly [line: string, next: RegExp])[] = [
    ['npm run dev &', /^start it with yield_after_ms and poll the job/],
    ['[ -d x ] && ls x', /^use test, as in test -d x/],
    ['if [ -d x ]; then ls x; fi', /^use test, as in test -d x; there is no if: use && and \|\|/],
    ['if test -d x; then ls x; fi', /^there is no if or loop: use && and \|\|/],
    ['(cd test && ls)', /^give the folder in cwd \(test\)/],
    ['cd test && ls', /^give the folder in cwd/],
    ['cd test && ls *.js', /^give the folder in cwd \(test\)/],
    ["node <<'EOF'\nconsole.log(1)\nEOF", /^pass the text in stdin/],
    ['cat <<EOF > f\ntext\nEOF', /^write the file with file_write/],
    ['echo text > f', /^write the file with file_write/],
    ['git commit -m "$(cat <<EOF\nfix\nEOF\n)"', /^call git_commit with message/],
    ['find . -name "*.js" -exec wc {} +', /^leave out -exec/],
    ['git status', /^call git_status/],
    ['git -C sub log --oneline', /^call git_log/],
    ['git switch main', /^call git_checkout/],
    ['CI=1 npm test', /^give variables in env/],
    ['export CI=1', /^give variables in env/],
    ['npm test 2>&1', /^leave out 2>&1: both streams are returned/],
    ['npm test 2>/dev/null', /^leave out 2>\/dev\/null/],
    ['make > log', /^leave the redirection out: the output is returned/],
    ['node < in.js', /^pass the text in stdin/],
    ['timeout 5 npm test', /a limit goes into timeout_ms/],
    ['curl x', /^use the curl tool/],
    ['ls *.js', /; or ask the operator for shell\.mode: sandboxed$/],
    ['echo $HOME', /; or ask the operator for shell\.mode: sandboxed$/],
    ['npx eslint .', /this literal pattern, without alternatives or wildcards: \^npx eslint \\\.\$$/],
  ];
  for (const [line, next] of rows) {
    test(`is named for ${JSON.stringify(line)}`, () => assert.match(adviceFor(line) ?? 'nothing', next));
  }

  test('leads to a line that runs', () => {
    for (const line of ['test -d x && ls x', 'npm test', 'find . -name "*.js"', 'ls'])
      assert.equal(adviceFor(line), undefined);
    assert.equal(adviceFor('npx eslint .', [literalPattern(['npx', 'eslint', '.'])]), undefined);
  });

  test('names only tools that exist', () => {
    const names = new Set(Object.values(catalog).map(({ name }) => name));
    for (const tool of [...GIT_TOOLS.values(), 'file_write', 'job_poll', 'curl'])
      assert.ok(names.has(tool as never), tool);
  });

  test('a refusal points at the line of the pattern it is about', () => {
    assert.throws(
      () =>
        judgeCommands(parseCommandLine('npx eslint .'), {
          allow: ALLOW.map(compileAllowlistPattern),
          optionRules: OPTION_RULES,
        }),
      (thrown) => isToolError(thrown) && thrown.details['field'] === `shell_allow.${ALLOW[1]}`,
    );
  });
});
