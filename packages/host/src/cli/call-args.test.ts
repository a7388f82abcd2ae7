import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { createScratch, runCli } from '../../test/run-cli.ts';
import { acceptedTypes, typeWords } from '../sessions/typed-words.ts';
import { parseCallArgs } from './call-args.ts';

const schema = {
  properties: {
    path: { type: 'string' },
    content: { type: 'string' },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    max_bytes: { type: 'integer' },
    list: { type: 'array' },
    quiet: { type: 'boolean' },
  },
};

async function parse(...words: string[]): Promise<object> {
  const given = await parseCallArgs(words);
  const typed = 'args' in given ? given : typeWords(given.words, schema);
  assert.ok('args' in typed, JSON.stringify(typed));
  return typed.args;
}

const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-args-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function argsFile(content: string | Uint8Array): string {
  const path = join(folder, 'args.json');
  writeFileSync(path, content);
  return `@${path}`;
}

describe('parseCallArgs', () => {
  test('gives no arguments for no words', async () => {
    assert.deepEqual(await parse(), {});
  });

  test('takes a JSON object as it stands', async () => {
    assert.deepEqual(await parse(' {"path": "a=b", "n": [1]}'), { path: 'a=b', n: [1] });
  });

  test('keeps text where the tool takes text, and reads JSON elsewhere', async () => {
    const args = await parse(
      'path=a=b',
      'content=123',
      'note=null',
      'max_bytes=5',
      'list=["x"]',
      'other=true',
      'word=x y',
    );
    assert.deepEqual(args, {
      path: 'a=b',
      content: '123',
      note: null,
      max_bytes: 5,
      list: ['x'],
      other: true,
      word: 'x y',
    });
    assert.deepEqual(await parse('content=null', 'path='), { content: 'null', path: '' });
  });

  test('takes --key value, and --key alone where the tool has a switch', async () => {
    const args = await parse('--path', '--x=y', '--max-bytes', '5', '--quiet', 'content=1', '--note=null');
    assert.deepEqual(args, { path: '--x=y', max_bytes: 5, quiet: true, content: '1', note: null });
    assert.deepEqual(await parse('--quiet', 'false', '--other', 'x'), { quiet: false, other: 'x' });
    await assert.rejects(parse('--path'), /Argument has no value: --path/);
    await assert.rejects(parse('--path', 'a', 'path=b'), /Argument is given twice: path/);
  });

  test('passes every text unchanged to an argument that takes text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        assert.deepEqual(await parse(`content=${text}`), { content: text });
      }),
    );
  });

  test('needs a schema for pairs and options alone', async () => {
    assert.deepEqual(await parseCallArgs([]), { args: {} });
    assert.deepEqual(await parseCallArgs(['{}']), { args: {} });
    assert.deepEqual(await parseCallArgs(['a=1', '--b', '2']), { words: ['a=1', '--b', '2'] });
  });

  test('makes no prototype out of a key', async () => {
    const args = await parse('__proto__=1');
    assert.deepEqual(Object.keys(args), ['__proto__']);
    assert.equal(Object.getPrototypeOf(args), Object.prototype);
  });

  test('reads a file', async () => {
    assert.deepEqual(await parse(argsFile('{"path":"grüße"}\n')), { path: 'grüße' });
  });

  test('reads stdin', async () => {
    using scratch = createScratch();
    scratch.write('a', 'from stdin');
    const { code, stdout } = await runCli(['call', 'file_read', '-', ...scratch.options], { input: '{"path":"a"}' });
    assert.deepEqual([code, JSON.parse(stdout).data.content], [0, 'from stdin']);
  });

  for (const [words, message] of [
    [['path'], /^Not a JSON object and not key=value: path$/],
    [['=x'], /^Not a JSON object and not key=value: =x$/],
    [['{"a":1}', 'b=2'], /^Not a JSON object and not key=value: \{"a":1\}$/],
    [['{"a":"x=1"}', 'b=2'], /^Not a JSON object/],
    [['-', 'a=1'], /^Not a JSON object and not key=value: -$/],
    [['a=1', 'a=2'], /^Argument is given twice: a$/],
    [['{"a":'], /^Arguments are not valid JSON \(arguments\): /],
    [['{"a":1,"a":2}'], /Duplicate key.*a/],
    [['{"__proto__":1}'], /^Arguments are not valid JSON/],
    [['[1]'], /^Arguments are not a JSON object \(arguments\)$/],
    [['@'], /^Cannot read the arguments: .*ENOENT/],
    [['@/no/such/file'], /^Cannot read the arguments: \/no\/such\/file \(ENOENT\)$/],
    [[`@${tmpdir()}`], /\(EISDIR\)$/],
  ] as const) {
    test(`refuses ${words.join(' ')}`, async () => {
      await assert.rejects(parseCallArgs(words), { name: 'UsageError', message, next: /^for example: / });
    });
  }

  test('refuses a file that is no JSON object in UTF-8', async () => {
    for (const content of ['', '"text"', 'null', Buffer.from([0x22, 0xff, 0x22])]) {
      await assert.rejects(parseCallArgs([argsFile(content)]), { name: 'UsageError', message: /args\.json/ });
    }
  });
});

const typedSchema = {
  properties: {
    text: { type: 'string' },
    maybe: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    list: { type: ['string', 'array'] },
    mode: { enum: ['a', 'b', null] },
    one: { const: 'a' },
    either: { oneOf: [{ type: 'integer' }, { anyOf: [{ type: 'string' }] }] },
    anything: {},
  },
};

describe('acceptedTypes', () => {
  for (const [key, types] of Object.entries({
    text: ['string'],
    maybe: ['string', 'null'],
    list: ['string', 'array'],
    mode: ['string', 'null'],
    one: ['string'],
    either: ['integer', 'string'],
    anything: [],
    unknown: [],
    toString: [],
  })) {
    test(`of ${key} are ${JSON.stringify(types)}`, () => {
      assert.deepEqual([...acceptedTypes(typedSchema, key)], types);
    });
  }

  test('are unknown without a schema', () => {
    assert.deepEqual([...acceptedTypes(undefined, 'text')], []);
    assert.deepEqual([...acceptedTypes({}, 'text')], []);
  });
});
