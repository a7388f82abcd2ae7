import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { isToolError, SCOPES } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { createToken } from './token-digest.ts';
import { formatTokenLine, parseTokenLines } from './token-lines.ts';

const MAIN = createToken();
const OTHER = createToken();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('parseTokenLines', () => {
  test('reads every form of a line', () => {
    const text = [
      '\uFEFF# comment',
      '',
      MAIN,
      `  ${OTHER}\tscopes=read,call expires=2030-01-31T12:00:00+02:00 name=ci # for the build`,
      `sha256:${sha256('third').toUpperCase()} scopes=approve\r`,
      '',
    ].join('\n');
    assert.deepEqual(parseTokenLines(text, 'file'), {
      mainToken: MAIN,
      entries: [
        { line: 3, name: 'main', sha256: sha256(MAIN), scopes: new Set(SCOPES) },
        {
          line: 4,
          name: 'ci',
          sha256: sha256(OTHER),
          scopes: new Set(['read', 'call']),
          expiresAt: Date.UTC(2030, 0, 31, 10),
        },
        {
          line: 5,
          name: `token-${sha256('third').slice(0, 12)}`,
          sha256: sha256('third'),
          scopes: new Set(['approve']),
        },
      ],
    });
  });

  test('takes the first plain token for the main one, with all scopes unless it states them', () => {
    const hashedFirst = parseTokenLines(`sha256:${sha256('x')} scopes=read\n${MAIN}`, 'file');
    assert.equal(hashedFirst.mainToken, MAIN);
    assert.deepEqual(hashedFirst.entries[1]?.scopes, new Set(SCOPES));
    assert.deepEqual(parseTokenLines(`${MAIN} scopes=read`, 'file').entries[0]?.scopes, new Set(['read']));
  });

  const bad: readonly [string, string][] = [
    [`${OTHER}`, 'No scopes'],
    [`sha256:${sha256('x')}`, 'No scopes'],
    [`${OTHER} scopes=`, 'A scope is unknown'],
    [`${OTHER} scopes=read,write`, 'A scope is unknown'],
    [`${OTHER} scopes=read scopes=call`, 'Given twice: scopes'],
    [`${OTHER} scopes=read ${createToken()}`, 'known are scopes='],
    [`${OTHER} scopes=read expires=tomorrow`, 'ISO time'],
    [`${OTHER} scopes=read expires=2030-02-30T00:00:00Z`, 'ISO time'],
    [`${OTHER} scopes=read expires=2030-01-01T00:00:00`, 'ISO time'],
    [`${OTHER} scopes=read name=a/b`, 'not an id'],
    [`${OTHER} scopes=read name=main`, 'Same name as line 1'],
    [`${MAIN} scopes=read`, 'Same token as line 1'],
    [`sha256:${sha256(MAIN)} scopes=read`, 'Same token as line 1'],
    ['sha256:abc scopes=read', '64 hex'],
    ['tooshort scopes=read', '16 to 512'],
    [`${'x'.repeat(513)} scopes=read`, '16 to 512'],
    ['"quoted-quoted-quoted" scopes=read', 'no header carries'],
  ];
  for (const [line, problem] of bad) {
    test(`refuses ${line.replaceAll(/trt_\S+/g, '<token>').slice(0, 60)}`, () => {
      assert.throws(
        () => parseTokenLines(`${MAIN}\n\n${line}\n`, 'file'),
        (error) =>
          isToolError(error) &&
          error.code === 'E_VALIDATION_FAIL' &&
          error.message.includes('line 3') &&
          error.message.includes(problem) &&
          typeof error.details['next'] === 'string',
      );
    });
  }

  test('never tells a token in a refusal, whatever stands in the file', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (before, after) => {
        const text = `${before} ${MAIN} ${after}\n${before}${OTHER}${after}`;
        try {
          parseTokenLines(text, 'file');
        } catch (error) {
          assert.ok(isToolError(error));
          const told = JSON.stringify(error.toEntry());
          assert.ok(!told.includes(MAIN) && !told.includes(OTHER));
        }
      }),
    );
  });

  test('reads back what formatTokenLine writes', () => {
    fc.assert(
      fc.property(
        fc.subarray([...SCOPES], { minLength: 1 }),
        fc.option(fc.date({ noInvalidDate: true, min: new Date('1970'), max: new Date('9999') }), { nil: undefined }),
        fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
        (scopes, expires, name) => {
          const entry = {
            name,
            sha256: sha256(name),
            scopes: new Set(scopes),
            ...(expires === undefined ? {} : { expiresAt: expires.getTime() }),
          };
          assert.deepEqual(parseTokenLines(formatTokenLine(entry), 'file').entries, [{ line: 1, ...entry }]);
        },
      ),
    );
  });
});
