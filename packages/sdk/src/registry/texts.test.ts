import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readDomain } from './texts.ts';

describe('readDomain', () => {
  const accepted: [string, string][] = [
    ['crates.io', 'crates.io'],
    ['Doc.Rust-Lang.ORG', 'doc.rust-lang.org'],
    ['example.org.', 'example.org'],
    ['*.example.org', '*.example.org'],
    ['.example.org', '*.example.org'],
    ['example.org:8443', 'example.org:8443'],
    ['*.example.org:8443', '*.example.org:8443'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1:3000', '127.0.0.1:3000'],
    ['::1', '[::1]'],
    ['[::0001]', '[::1]'],
    ['[::1]:80', '[::1]:80'],
    ['example.org:80', 'example.org:80'],
  ];
  for (const [written, entry] of accepted) {
    test(`reads ${written} as ${entry} [S0-11]`, () => assert.deepEqual(readDomain(written), { entry }));
  }

  const refused: [string, RegExp][] = [
    ['https://example.org', /scheme/],
    ['example.org/path', /path/],
    ['user@example.org', /user information/],
    ['*', /Wildcard/],
    ['a.*.example.org', /Wildcard/],
    ['*example.org', /Wildcard/],
    ['*.*.org', /Wildcard/],
    ['*.', /Not a host/],
    ['', /Not a host/],
    ['.', /Not a host/],
    ['exa mple.org', /Not a host/],
    ['ok\t.example.org', /Not a host/],
    ['example..org', /Not a host/],
    ['example.org:0', /Port/],
    ['example.org:65536', /Port/],
    ['example.org:http', /Not a host/],
    ['example.org:', /Not a host/],
    ['*.10.0.0.1', /address has no subdomains/],
    ['*.[::1]', /address has no subdomains/],
    ['0x7f.1', /Not a host/],
    ['2130706433', /Not a host/],
    ['127.1', /Not a host/],
    ['１２７.0.0.1', /Not a host/],
    ['exa%6dple.org', /Not a host/],
    [`${'a'.repeat(64)}.org`, /Not a host/],
  ];
  for (const [written, expected] of refused) {
    test(`refuses ${JSON.stringify(written).slice(0, 40)} [S0-11]`, () => {
      const reading = readDomain(written);
      assert.match('problem' in reading ? reading.problem : '', expected);
    });
  }

  test('has one normal form: reading it again changes nothing [S0-11]', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.string()), (written) => {
        const first = readDomain(written);
        if ('entry' in first) assert.deepEqual(readDomain(first.entry), first);
      }),
    );
  });
});
