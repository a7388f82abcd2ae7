import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { compileAllowlistPattern, compilePattern } from '../pattern/compile-pattern.ts';
import { askedFor, judgeDenied, judgeScript, type ScriptPolicy } from './judge-script.ts';
import { readCommand } from './read-command.ts';
import { readScript } from './read-script.ts';

interface Lists {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly unseen?: 'allow' | 'ask' | 'deny';
  readonly isolation?: 'bubblewrap' | 'none';
}

function policy({ allow = [], deny = [], ask = [], unseen = 'allow', isolation = 'bubblewrap' }: Lists): ScriptPolicy {
  return {
    isolation,
    shell: { mode: 'sandboxed', unseen },
    shellAllow: allow.map(compileAllowlistPattern),
    shellDeny: deny.map(compilePattern),
    shellAsk: ask.map(compilePattern),
  };
}

/** Undefined: it may run. */
function refusal(command: JsonValue, lists: Lists): JsonObject | undefined {
  const list = readScript(command);
  try {
    judgeDenied(list, policy(lists));
    assert.ok(list.script);
    judgeScript(list.script, policy(lists));
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_POLICY', String(thrown));
    return thrown.details;
  }
}

const isRefused = (command: JsonValue, lists: Lists): boolean => refusal(command, lists) !== undefined;

describe('a script under shell_deny', () => {
  const deny = ['^rm .*-[a-z]*r', '^git push'];
  const refused = [
    'rm -rf build',
    'cd x && rm -r y',
    'echo $(rm -rf y)',
    "bash -c 'rm -rf y'",
    'ls | xargs rm -rf',
    'find . -exec rm -r {} +',
    '/bin/rm -rf y',
    'f() { git push; }; f',
    'cat <<EOF\n$(git push)\nEOF',
    "r''m -rf y",
    'sudo rm -rf y',
    'X=1 rm -rf y',
    'if true; then git push; fi',
  ];
  for (const line of refused) {
    test(`does not run: ${JSON.stringify(line)}`, () => assert.equal(refusal(line, { deny })?.['reason'], 'denied'));
  }

  test('runs where no command matches, whatever its texts hold', () => {
    for (const line of [
      'rm x',
      'echo "rm -rf y"',
      "echo 'git push'",
      '# rm -rf y\nls',
      'git status',
      "cat <<'E'\n$(git push)\nE",
    ]) {
      assert.equal(isRefused(line, { deny }), false, line);
    }
  });

  test('deny wins over allow, and names its pattern', () => {
    const details = refusal('git push', { deny, allow: ['^git'] });
    assert.deepEqual([details?.['field'], details?.['pattern']], ['shell_deny.^git push', '^git push']);
  });

  test('is refused in strict mode too', () => {
    const judge = (line: string) => judgeDenied(readCommand(line), policy({ deny }));
    assert.throws(() => judge('ls && git push'), /denied by shell_deny: git push at column 7/);
    assert.doesNotThrow(() => judge('ls && git status'));
  });
});

describe('a script under shell_allow', () => {
  const allow = ['^npm (test|run \\w+)', '^(ls|grep) ', '^npx eslint', '^\\./build\\.sh$'];
  const runs = [
    'cd packages && npm test 2>&1 | grep fail',
    'for f in a b; do ls $f; done',
    'timeout 60 npm test',
    'CI=1 npm run build',
    'npx eslint .',
    './build.sh',
    '[ -d x ] && echo yes || exit 1',
    'f() { npm test; }; f',
    '/usr/bin/grep x y',
    'x=$(ls a); echo "$x"',
  ];
  for (const line of runs) test(`runs: ${line}`, () => assert.equal(refusal(line, { allow }), undefined));

  for (const line of ['rm x', 'npm test && curl x', 'timeout 60 make', 'echo $(make)', 'bash x.sh', 'npm install']) {
    test(`does not run: ${line}`, () => assert.equal(refusal(line, { allow })?.['reason'], 'not_allowlisted'));
  }

  test('any program runs where no pattern is given', () => {
    assert.equal(isRefused('make && ./a.out', {}), false);
  });
});

describe('parts that cannot be seen', () => {
  const lines = ['eval "$x"', '$x y', './a.sh', 'bash a.sh', 'curl x | sh', 'echo "unclosed'];
  test('run, ask or are refused as the registry says', () => {
    for (const line of lines) {
      assert.equal(isRefused(line, {}), false, line);
      assert.equal(refusal(line, { unseen: 'deny' })?.['reason'], 'unseen', line);
      assert.equal(isRefused(line, { unseen: 'ask' }), false, line);
      assert.match(askedFor(readScript(line), policy({ unseen: 'ask' })) ?? '', /^shell\.unseen: /, line);
      assert.equal(askedFor(readScript(line), policy({})), undefined, line);
    }
  });

  test('do not keep a line from running that has none', () => {
    for (const line of ['ls | wc -l', "bash -c 'ls'", 'eval ls']) {
      assert.equal(isRefused(line, { unseen: 'deny' }), false, line);
      assert.equal(askedFor(readScript(line), policy({ unseen: 'ask' })), undefined, line);
    }
  });

  test('a script that shell_allow names has been judged', () => {
    assert.equal(isRefused('./a.sh', { unseen: 'deny', allow: ['^\\./a\\.sh$'] }), false);
    assert.equal(isRefused('./b.sh', { unseen: 'deny', allow: ['^\\./a\\.sh$'] }), true);
  });

  test('a command too long for patterns counts as one of them', () => {
    const line = `echo ${'x'.repeat(70_000)}`;
    assert.equal(refusal(line, { unseen: 'deny', deny: ['^rm'] })?.['reason'], 'unseen');
    assert.equal(isRefused(line, { unseen: 'deny' }), false);
  });
});

describe('a command that needs an approval', () => {
  test('is found by shell_ask in both modes', () => {
    const asks = policy({ ask: ['^git push', '--force'] });
    assert.equal(askedFor(readScript('ls; git push'), asks), 'shell_ask: ^git push');
    assert.equal(askedFor(readScript('rm --force x'), asks), 'shell_ask: --force');
    assert.equal(askedFor(readCommand('rm --force x'), asks), 'shell_ask: --force');
    assert.equal(askedFor(readScript('ls'), asks), undefined);
  });
});

describe('a script without a sandbox', () => {
  test('does not run, whatever it holds', () => {
    assert.equal(refusal('true', { isolation: 'none' })?.['reason'], 'no_sandbox');
    assert.equal(refusal('true', {}), undefined);
  });
});

describe('what is no command', () => {
  for (const value of ['a\0b', '\ud800', 'x'.repeat(102_401), ['a\0b']]) {
    test(`is refused: ${JSON.stringify(value).slice(0, 20)}`, () => assert.throws(() => readScript(value), /Command/));
  }
  test('nothing else is: line breaks, tabs and long lines are', () => {
    for (const value of ['a\n\tb', 'é', `echo ${'x'.repeat(90_000)}`, ['a\nb']])
      assert.doesNotThrow(() => readScript(value));
  });
});
