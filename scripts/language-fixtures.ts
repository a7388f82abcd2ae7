/**
 * Writes what the engine makes of a language's fixtures beside them, as `<file>.expected.txt`.
 *
 * `node -C tool-runtime-source scripts/language-fixtures.ts [id …]`, without ids for all languages. Read the difference before you
 * keep it: the test takes these files for the truth.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { LANGUAGE_IDS } from '../packages/ast/src/profile/catalog.ts';
import { createEngine } from '../packages/ast/src/symbols/engine.ts';
import { describeFacts, fixturePath } from '../packages/ast/test/describe-facts.ts';

async function writeExpectations(languages: readonly string[]): Promise<void> {
  const engine = createEngine();
  for (const language of languages) {
    const folder = new URL(`../packages/ast/languages/${language}/fixtures/`, import.meta.url);
    for (const file of readdirSync(folder).filter((name) => !name.endsWith('.expected.txt'))) {
      const facts = await engine.index({
        path: fixturePath(file),
        language,
        bytes: readFileSync(new URL(file, folder)),
      });
      writeFileSync(new URL(`${file}.expected.txt`, folder), describeFacts(facts));
      console.log(`wrote ${language}/fixtures/${file}.expected.txt`);
    }
  }
  await engine.delete();
}

const wanted = process.argv.slice(2);
await writeExpectations(wanted.length === 0 ? LANGUAGE_IDS : wanted);
