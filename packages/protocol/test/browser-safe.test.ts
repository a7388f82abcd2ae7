import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PROTOCOL_VERSION } from '@tool-runtime/protocol';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => ({ name, text: readFileSync(join(SRC, name), 'utf8') }));

const importsOf = (text: string) =>
  [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*(['"])(.+?)\1/g)].map((match) => match[2] ?? '');

/** Files that are loaded with this one: what it imports, apart from types. */
function loadedBy(name: string, texts: ReadonlyMap<string, string>, loaded = new Set<string>()): Set<string> {
  if (loaded.has(name)) return loaded;
  loaded.add(name);
  const text = (texts.get(name) ?? assert.fail(`No file ${name}`)).replace(
    /\b(?:import|export) type \{[^}]*\} from .*/g,
    '',
  );
  for (const specifier of importsOf(text).filter((one) => one.startsWith('.'))) {
    loadedBy(posix.join(posix.dirname(name), specifier), texts, loaded);
  }
  return loaded;
}

describe('the protocol package', () => {
  test('imports its own files and zod, nothing of Node [S0-1]', () => {
    assert.ok(files.length > 20);
    assert.deepEqual(importsOf("import x from 'node:fs'; import('os'); export { y } from './y.ts';"), [
      'node:fs',
      'os',
      './y.ts',
    ]);
    const foreign = files.flatMap(({ name, text }) =>
      importsOf(text)
        .filter((specifier) => specifier !== 'zod' && !/^\.\.?\/.+\.ts$/.test(specifier))
        .map((specifier) => `${name} imports ${specifier}`),
    );
    assert.deepEqual(foreign, []);
  });

  test('uses no global that only Node has', () => {
    const users = files.filter(({ text }) => /\b(?:Buffer|process|setImmediate|require|__dirname)\s*[.(]/.test(text));
    assert.deepEqual(
      users.map(({ name }) => name),
      [],
    );
  });

  test('the main entry and the internal one load no code of the client', () => {
    const texts = new Map(files.map(({ name, text }) => [name.replaceAll('\\', '/'), text]));
    const isClient = (name: string) => name.startsWith('client/');
    assert.deepEqual([...loadedBy('index.ts', texts), ...loadedBy('internal.ts', texts)].filter(isClient), []);
    assert.ok([...loadedBy('client.ts', texts)].filter(isClient).length > 20);
  });

  test('states its version [S0-83]', () => assert.equal(PROTOCOL_VERSION, 1));
});
