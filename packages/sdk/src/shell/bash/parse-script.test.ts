import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseScript } from './parse-script.ts';

/** Every command, words joined by blanks; computed words as they are written, in angle quotes. */
function commandsOf(script: string): readonly string[] {
  return parseScript(script).commands.map(({ words }) => words.map(({ raw, text }) => text ?? `«${raw}»`).join(' '));
}

describe('commands of a bash script', () => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are expansions of bash
  const rows: readonly (readonly [script: string, ...commands: readonly string[]])[] = [
    ['echo a && b || c; d | e |& f &', 'echo a', 'b', 'c', 'd', 'e', 'f'],
    ['a\nb # comment\n\n# another\nc', 'a', 'b', 'c'],
    ['a |\n b &&\n c \\\n d', 'a', 'b', 'c d'],
    ['if a; then b; elif c; then d; else e; fi && g', 'a', 'b', 'c', 'd', 'e', 'g'],
    ['for i in 1 $(x); do y $i > f$i; done; z', 'x', 'y «$i»', 'z'],
    ['for ((i = 0; i < $(n); i++)) { o; }', 'n', 'o'],
    ['for x; do a; done\nselect y in b; do c; done', 'a', 'c'],
    ['while read l; do w; done < f; until u; do v; done', 'read l', 'w', 'u', 'v'],
    ['case $(s) in a | b) c ;; (d) e ;& "f g") h ;;& *) i; esac; j', 's', 'c', 'e', 'h', 'i', 'j'],
    ['(a; (b); { c; }) && [[ -n $(d) && $x =~ ^(e|f)$ ]] && [ -d g ]', 'a', 'b', 'c', 'd', '[ -d g ]'],
    ['! a; time -p b; coproc c; coproc NAME { d; }', 'a', 'b', 'c', 'd'],
    ['f() { a; }; function g { b; }; function h() (c); f', 'a', 'b', 'c', 'f'],
    [
      'x=$(y "$(z \'q\')") w; a=(1 $(b) 2); declare -a c=($(d))',
      'w',
      'y «"$(z \'q\')"»',
      'z q',
      'b',
      'declare -a «c=($(d))»',
      'd',
    ],
    ['echo `a \\`b\\`` "`c`"', 'echo «`a \\`b\\``» «"`c`"»', 'a «`b`»', 'b', 'c'],
    [
      'echo $((1 + $(n))) $[2 + $(o)] ${x:-$(m)} "${y:-\'$(k)\'}"',
      'echo «$((1 + $(n)))» «$[2 + $(o)]» «${x:-$(m)}» «"${y:-\'$(k)\'}"»',
      'n',
      'o',
      'm',
      'k',
    ],
    ['((a + $(b))); ((c) | (d))', 'b', 'c', 'd'],
    [
      'echo $((a + $(case b in c) d;; esac)))',
      'echo «$((a + $(case b in c) d;; esac)))»',
      'a + «$(case b in c) d;; esac)»',
      'd',
    ],
    ['diff <(a) <(b -c) > >(d)', 'diff «<(a)» «<(b -c)»', 'a', 'b -c', 'd'],
    ["cat <<EOF <<'B' > x\nhi $(inner `bt`)\nEOF\n$(not run)\nB\nafter", 'cat', 'inner «`bt`»', 'bt', 'after'],
    ['cat <<-EOF | a\n\tx $(b)\n\tEOF\nc', 'cat', 'a', 'b', 'c'],
    ['echo "$(cat <<EOF\nx\nEOF\n)" && a', 'echo «"$(cat <<EOF\nx\nEOF\n)"»', 'cat', 'a'],
    ['echo ok >&2 2>&1 &>x {fd}>y <<<"$(h)" 3<&-', 'echo ok', 'h'],
    ["r\\m x; 'r'm y; $'\\x72m' z; r\\\nm q", 'rm x', 'rm y', 'rm z', 'rm q'],
    ['$x y; /bin/r? q; {rm,-rf}; ~/z', '«$x» y', '«/bin/r?» q', '«{rm,-rf}»', '~/z'],
    ['echo a#b "a # b" {} {a} a{b', 'echo a#b a # b {} {a} a{b'],
    ['echo \'a\nb\' "c\\$d" "e\\f"', 'echo a\nb c$d e\\f'],
    ['!(p q)', 'p q'],
    ['${ w; }', '«${ w; }»', 'w'],
    ['> f'],
    ['A=1 B=2'],
  ];
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are expansions of bash
  for (const [script, ...commands] of rows) {
    test(`are all found in ${JSON.stringify(script)}`, () => {
      assert.deepEqual([...commandsOf(script)].sort(), [...commands].sort());
      assert.equal(parseScript(script).problem, undefined);
    });
  }

  const broken = [
    'echo "a',
    "echo 'a",
    'echo $(a',
    'echo `a',
    'if a; then',
    'a; done',
    'a;;b',
    'echo ${a',
    'case x in',
    '(a',
    'a )',
    'a &&& b',
    '{ a',
    'a >',
  ];
  for (const script of broken) {
    test(`end with a problem in ${JSON.stringify(script)}`, () =>
      assert.notEqual(parseScript(script).problem, undefined));
  }

  test('the place of a command is where it starts', () => {
    assert.deepEqual(
      parseScript('a; b $(c)').commands.map(({ at }) => at),
      [0, 3, 7],
    );
  });

  const deep = [
    '$(',
    '((',
    '$((',
    '(',
    '{ ',
    'a=(',
    '${x:-',
    '`',
    'coproc ',
    'function f ',
    'if ',
    '<(',
    '"$(',
    '[[ ',
    '! ',
  ];
  test('texts nested without end are given up, in time that grows with their length', () => {
    for (const piece of deep) parseScript(piece.repeat(20_000));
    for (const piece of deep) assert.doesNotThrow(() => parseScript(`${piece.repeat(50)}a`));
  });

  test('a here-document before an attempt at arithmetic is still read when the attempt fails', () => {
    assert.doesNotThrow(() => parseScript('<<Efunction f $(($(\n'));
    const script = (inside: string): string => `cat <<E; ((${inside}\nE\necho a) | cat); rm $(id)\n`;
    const names = parseScript(script('echo b')).commands.map(({ words }) => words[0]?.text);
    assert.deepEqual(
      names,
      parseScript(script('echo b').replace('((', '( (')).commands.map(({ words }) => words[0]?.text),
    );
  });

  test('no text makes it throw', () => {
    const tokens = [
      ...deep,
      ')',
      '))',
      '}',
      ' ',
      '\n',
      ';',
      '&',
      '|',
      '<<E',
      'E',
      "'",
      '"',
      '\\',
      '$',
      'a',
      'case x in ',
      'esac',
      ' done',
      '#',
      '>',
      '&&',
    ];
    const script = fc.array(fc.constantFrom(...tokens), { maxLength: 40 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(script, (text) => void parseScript(text)),
      { numRuns: 2000 },
    );
  });
});
