/** Every language of the catalog against its fixtures, as they are and with other line ends and a byte order mark. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import type { FileFacts } from '../src/contracts/facts.ts';
import { LANGUAGE_IDS } from '../src/profile/catalog.ts';
import { LANGUAGES_FOLDER } from '../src/profile/load-profile.ts';
import { createEngine } from '../src/symbols/engine.ts';
import { describeFacts, fixturePath } from './describe-facts.ts';

const engine = createEngine();
after(() => engine.delete());

test('every language folder is in the catalog and every catalogued language has a folder [S0-52]', () => {
  const folders = readdirSync(LANGUAGES_FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  assert.deepEqual(folders.sort(), [...LANGUAGE_IDS].sort());
});

for (const language of LANGUAGE_IDS) {
  const folder = new URL(`${language}/fixtures/`, LANGUAGES_FOLDER);
  const files = readdirSync(folder).filter((file) => !file.endsWith('.expected.txt'));

  describe(`the fixtures of ${language} [S0-52]`, () => {
    test('hold a file that parses, one that does not, and letters outside ASCII', async () => {
      const all = await Promise.all(files.map((file) => index(language, file, readFileSync(new URL(file, folder)))));
      assert.equal(
        all.some((facts) => facts.problemCount === 0),
        true,
      );
      assert.equal(
        all.some((facts) => facts.problemCount > 0),
        true,
      );
      assert.equal(
        files.some((file) => /[^\0-\x7f]/.test(readFileSync(new URL(file, folder), 'utf8'))),
        true,
      );
    });

    for (const file of files) {
      const bytes = readFileSync(new URL(file, folder));

      test(`${file} is detected as ${language}`, () => {
        const detected = engine.detect(fixturePath(file), { prefer: [language] });
        assert.equal(detected, language);
      });

      test(`${file} gives the expected facts`, async () => {
        const expected = readFileSync(new URL(`${file}.expected.txt`, folder), 'utf8');
        assert.equal(describeFacts(await index(language, file, bytes)), expected);
      });

      test(`${file} gives the same facts with CRLF line ends, ids and revs included`, async () => {
        const crlf = Buffer.from(bytes.toString('utf8').replaceAll('\n', '\r\n'));
        const [plain, changed] = [await index(language, file, bytes), await index(language, file, crlf)];
        assert.deepEqual(withoutOffsets(changed), withoutOffsets(plain));
      });

      test(`${file} gives the same facts three bytes later behind a byte order mark`, async () => {
        const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
        const [plain, changed] = [await index(language, file, bytes), await index(language, file, marked)];
        assert.deepEqual(spans(changed, -3), spans(plain, 0));
      });
    }
  });
}

function index(language: string, file: string, bytes: Uint8Array): Promise<FileFacts> {
  return engine.index({ path: fixturePath(file), language, bytes });
}

function withoutOffsets(facts: FileFacts): unknown {
  return {
    nodes: facts.nodes.map(({ span, fullSpan, nameSpan, bodySpan, ...rest }) => rest),
    refs: facts.refs.map(({ start, ...rest }) => rest),
    imports: facts.imports.map(({ start, ...rest }) => rest),
    problemCount: facts.problemCount,
  };
}

function spans(facts: FileFacts, shift: number): unknown {
  const moved = ({ start, end }: { start: number; end: number }) => [start + shift, end + shift];
  return {
    nodes: facts.nodes.map((node) => [
      node.id,
      node.rev,
      node.signature,
      node.line,
      moved(node.span),
      moved(node.fullSpan),
      moved(node.nameSpan),
    ]),
    refs: facts.refs.map((ref) => [ref.name, ref.start + shift, ref.line]),
    imports: facts.imports.map((one) => [one.source, one.name, one.start + shift]),
    problemCount: facts.problemCount,
  };
}
