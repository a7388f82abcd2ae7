import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { relativeTo } from './workspace-path.ts';

const toRelative = relativeTo('/srv/project');

describe('paths that analyzers print', () => {
  const inside: readonly [string, string][] = [
    ['src/a.ts', 'src/a.ts'],
    ['./src//a.ts', 'src/a.ts'],
    ['src/../b.ts', 'b.ts'],
    ['/srv/project/src/a.ts', 'src/a.ts'],
    ['file:///srv/project/a%20b.ts', 'a b.ts'],
    ['FILE://localhost/srv/project/%C3%A9.ts', 'é.ts'],
    ['file:/srv/project/a.ts', 'a.ts'],
    ['file:///srv/project/100%.ts', '100%.ts'],
    ['a%20b.ts', 'a%20b.ts'],
    ['..a/b', '..a/b'],
    ['odd:name.ts', 'odd:name.ts'],
  ];
  for (const [given, expected] of inside) {
    test(`${given} is ${expected} [S0-56]`, () => assert.equal(toRelative(given), expected));
  }

  const outside = [
    '/srv/project',
    '.',
    '..',
    '../x',
    'src/../../x',
    '/srv/projectile/a.ts',
    '/etc/passwd',
    'file:///etc/passwd',
    'file:///srv/project/%2e%2e/x',
    'file://elsewhere/srv/project/a.ts',
    'https://example.org/a.ts',
    'a\0b',
  ];
  for (const given of outside) {
    test(`${JSON.stringify(given)} is outside [S0-56]`, () => assert.equal(toRelative(given), undefined));
  }
});
