import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openCodeRuntime } from '../../test/code-runtime.ts';

interface Answer {
  readonly parsed_files: number;
  readonly unchanged: number;
  readonly errors: readonly { path: string; line: number; message: string }[];
  readonly skipped: readonly { path: string; reason: string }[];
  readonly files: number;
  readonly truncated: boolean;
  readonly languages: Readonly<Record<string, number>>;
  readonly storage: string;
}

const FILES = {
  'src/a.rs': 'fn a() {}\n',
  'src/deep/b.rs': 'fn b() {}\n',
  'src/c.ts': 'export const c = 1;\n',
  'other/d.rs': 'fn d() {}\n',
  'README.md': '# no source\n',
};

describe('ast_generate [S0-52]', () => {
  test('parses what the globs name, in the language asked for, and skips unchanged files afterwards [S0-52]', async () => {
    await using code = await openCodeRuntime(FILES);
    const args = { paths: ['src/**/*.rs'], language: 'rust', incremental: true, max_files: 5000 };
    const first = await code.ask<Answer>('ast_generate', args);
    assert.deepEqual([first.parsed_files, first.errors, first.files, first.truncated], [2, [], 2, false]);
    const again = await code.ask<Answer>('ast_generate', args);
    assert.deepEqual([again.parsed_files, again.unchanged], [0, 2]);
    code.write({ 'src/a.rs': 'fn a() {}\nfn a2() {}\n' });
    assert.equal((await code.ask<Answer>('ast_generate', args)).parsed_files, 1);
    const full = await code.ask<Answer>('ast_generate', { ...args, incremental: false });
    assert.deepEqual([full.parsed_files, full.unchanged], [2, 0]);
  });

  test('takes folders and files by name, everything without paths, and counts by language [S0-52]', async () => {
    await using code = await openCodeRuntime(FILES);
    assert.equal((await code.ask<Answer>('ast_generate', { paths: ['src/deep', 'src/c.ts'] })).parsed_files, 2);
    const all = await code.ask<Answer>('ast_generate', {});
    assert.deepEqual([all.parsed_files, all.unchanged, all.languages], [2, 2, { rust: 3, typescript: 1 }]);
    assert.equal(all.storage, 'disk');
  });

  test('reports the first syntax error of each broken file and still indexes it [S0-52]', async () => {
    await using code = await openCodeRuntime({ 'bad.ts': 'const a = 1;\nfunction (] {\n', 'good.ts': 'let b = 1;\n' });
    const { parsed_files, errors } = await code.ask<Answer>('ast_generate', {});
    assert.equal(parsed_files, 2);
    assert.deepEqual(
      errors.map(({ path, line }) => [path, line]),
      [['bad.ts', 2]],
    );
  });

  test('stops at max_files and says so [S0-52]', async () => {
    await using code = await openCodeRuntime(FILES);
    const { files, truncated } = await code.ask<Answer>('ast_generate', { max_files: 2 });
    assert.deepEqual([files, truncated], [2, true]);
  });

  test('refuses paths outside of the workspace and unknown languages [S0-52]', async () => {
    await using code = await openCodeRuntime(FILES);
    assert.equal((await code.refusal('ast_generate', { paths: ['../**'] })).code, 'E_POLICY');
    assert.equal((await code.refusal('ast_generate', { paths: ['/etc/**'] })).code, 'E_POLICY');
    assert.equal((await code.refusal('ast_generate', { language: 'klingon' })).code, 'E_VALIDATION_FAIL');
  });

  test('announces progress while it works [S0-52]', async () => {
    await using code = await openCodeRuntime(FILES);
    const seen: string[] = [];
    code.session.listen(({ message }) => {
      if (message.event === 'TaskProgress') seen.push(message.progress.message);
    });
    await code.ask('ast_generate', {});
    assert.ok(
      seen.some((message) => /^Parsed \d+ of 4 files$/.test(message)),
      seen.join('; '),
    );
  });

  test("the registry's language is meant where a call names none", async () => {
    await using code = await openCodeRuntime(FILES, { registry: 'ast: {language: rust}' });
    assert.deepEqual((await code.ask<Answer>('ast_generate', {})).languages, { rust: 3 });
    assert.equal((await code.ask<Answer>('ast_generate', { language: 'typescript' })).parsed_files, 1);
  });
});
