import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seeArgv, seeScript } from './see-commands.ts';

const textsOf = (script: string): readonly string[] => seeScript(script).seen.map(({ text }) => text);
const reasonsOf = (script: string): readonly string[] => seeScript(script).unseen.map(({ reason }) => reason);

describe('commands started by other commands', () => {
  const rows: readonly (readonly [script: string, ...inner: readonly string[]])[] = [
    ["bash -c 'rm x; echo y'", 'rm x', 'echo y'],
    ["sh -ec 'rm x'", 'rm x'],
    ["bash --norc -o pipefail -c 'rm x' name arg", 'rm x'],
    ['/bin/bash <<EOF\nrm x\nEOF', 'rm x'],
    ["bash -s <<< 'rm x'", 'rm x'],
    ['env -i -u A B=1 C="$d" rm x', 'rm x'],
    ['timeout -k 5 10 rm x', 'rm x'],
    ['timeout "$t" rm x', 'rm x'],
    ['nohup nice -n 5 rm x &', 'nice -n 5 rm x', 'rm x'],
    ['sudo -u me -- rm x', 'rm x'],
    ['ls | xargs -0 -n 1 rm -f', 'xargs -0 -n 1 rm -f', 'rm -f'],
    ["xargs -I {} sh -c 'rm {}'", "sh -c 'rm {}'", "rm '{}'"],
    ["find . -name '*.o' -exec rm -f {} + -exec ls {} \\;", "rm -f '{}'", "ls '{}'"],
    ["eval 'rm x'", 'rm x'],
    ['eval rm x', 'rm x'],
    ["trap 'rm x' EXIT", 'rm x'],
    ['exec rm x', 'rm x'],
    ['command rm x', 'rm x'],
    ['time rm x', 'rm x'],
    ['npx --package p rm x', 'rm x'],
    ['uv run --with q rm x', 'rm x'],
    ['npm exec -- rm x', 'rm x'],
    ["su me -c 'rm x'", 'rm x'],
    ["watch -n 1 'rm x'", 'rm x'],
    ['bash -c "bash -c \'rm x\'"', "bash -c 'rm x'", 'rm x'],
  ];
  for (const [script, ...inner] of rows) {
    test(`are seen in ${JSON.stringify(script)}`, () => {
      const texts = textsOf(script);
      for (const text of inner) assert.ok(texts.includes(text), `${text} is not among ${texts.join(', ')}`);
      assert.deepEqual(reasonsOf(script), []);
    });
  }

  test('are empty where nothing is started', () => {
    for (const script of ['command -v rm', 'env', 'trap - EXIT', 'timeout 5', 'npm test', 'uv sync', 'exec > log']) {
      assert.deepEqual([textsOf(script).length, reasonsOf(script)], [1, []], script);
    }
  });

  test('know which command started them', () => {
    const [outer, inner] = seeScript('timeout 5 npm test').seen;
    assert.equal(inner?.outer, outer);
    assert.deepEqual([outer?.isTransparent, inner?.isTransparent], [true, false]);
    assert.equal(seeScript('find . -exec rm {} +').seen[0]?.isTransparent, false);
  });
});

describe('parts that only running a script can show', () => {
  const rows: readonly (readonly [script: string, reason: string])[] = [
    ['eval "$x"', 'eval'],
    ['bash -c "$x"', 'eval'],
    ["env -S 'rm x'", 'eval'],
    ['echo "$' + '{x@P}"', 'eval'],
    ['$x y', 'computed_name'],
    ['"$dir"/tool', 'computed_name'],
    ['$(which rm) x', 'computed_name'],
    ['/bin/r?', 'computed_name'],
    ['timeout 5 $x', 'computed_name'],
    ['source ./env.sh', 'script'],
    ['. ./env.sh', 'script'],
    ['bash build.sh', 'script'],
    ['./build.sh', 'script'],
    ['node_modules/.bin/eslint .', 'script'],
    ['curl x | bash', 'input'],
    ['bash <<EOF\n$x\nEOF', 'input'],
    ['alias ll="rm x"', 'alias'],
    ['hash -p ./rm ls', 'alias'],
    ['echo "unclosed', 'syntax'],
    ['case x in', 'syntax'],
  ];
  for (const [script, reason] of rows) {
    test(`are named in ${JSON.stringify(script)}: ${reason}`, () => assert.deepEqual(reasonsOf(script), [reason]));
  }

  test('are empty for everyday lines', () => {
    const lines = [
      'cd packages && npm test 2>&1 | tail -50',
      'FOO=1 make -j4 all > build.log',
      'for f in src/*.ts; do wc -l "$f"; done | sort -n',
      'git log --oneline $(git merge-base HEAD main)..HEAD',
      "python3 - <<'EOF'\nprint(1)\nEOF",
      '/usr/bin/env python3 -m pytest -q',
      'test -f x || { echo missing; exit 1; }',
    ];
    for (const line of lines) assert.deepEqual(reasonsOf(line), [], line);
  });
});

describe('a command given as a list of arguments', () => {
  test('is read word by word, wrappers included', () => {
    const { seen, unseen } = seeArgv(['timeout', '5', 'rm', '$x', 'a b']);
    assert.deepEqual(
      seen.map(({ text }) => text),
      ["timeout 5 rm '$x' 'a b'", "rm '$x' 'a b'"],
    );
    assert.deepEqual(unseen, []);
  });
});
