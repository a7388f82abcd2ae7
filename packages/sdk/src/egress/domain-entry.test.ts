import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { domainCovers, hostAllowed } from './domain-entry.ts';

describe('hostAllowed', () => {
  const domains = ['crates.io', '*.example.org', 'api.test:8443', '10.0.0.1', '[::1]'];
  const rows: [string, string | undefined][] = [
    ['crates.io', 'crates.io'],
    ['CRATES.IO.', 'crates.io'],
    ['crates.io:443', 'crates.io'],
    ['crates.io:80', 'crates.io'],
    ['crates.io:8443', undefined],
    ['crates.io:22', undefined],
    ['a.example.org:8080', undefined],
    ['static.crates.io', undefined],
    ['evilcrates.io', undefined],
    ['crates.io.evil.test', undefined],
    ['a.example.org', '*.example.org'],
    ['a.b.example.org', '*.example.org'],
    ['example.org', undefined],
    ['evilexample.org', undefined],
    ['api.test:8443', 'api.test:8443'],
    ['api.test', undefined],
    ['api.test:443', undefined],
    ['10.0.0.1', '10.0.0.1'],
    ['::1', '[::1]'],
    ['[::1]:80', '[::1]'],
    ['[::1]:81', undefined],
    ['10.0.0.1:8080', undefined],
    ['user@crates.io', undefined],
    ['crates.io/', undefined],
    ['crates.io:99999', undefined],
    ['', undefined],
    [':443', undefined],
  ];
  for (const [host, entry] of rows) {
    test(`${entry === undefined ? 'refuses' : 'allows'} ${host || 'an empty host'} [S0-11]`, () => {
      assert.equal(hostAllowed(domains, host), entry);
    });
  }

  test('an address lies below no wildcard, a name that looks like one does [S0-11]', () => {
    assert.equal(hostAllowed(['*.0.0.1'], '127.0.0.1'), undefined);
    assert.equal(hostAllowed(['*.0.1.test'], '127.0.1.test'), '*.0.1.test');
  });

  test('allows nothing with an empty list [S0-18]', () => assert.equal(hostAllowed([], 'crates.io'), undefined));

  test('an entry inside another allows no host the other does not [S0-11]', () => {
    const names = ['org', 'a', 'a.org', 'b.org', 'x.a.org', 'aa.org'];
    const hosts = names.flatMap((name) => ['', ':80', ':443', ':81'].map((port) => name + port));
    const entries = [...hosts, ...hosts.map((host) => `*.${host}`)];
    let judged = 0;
    for (const outer of entries) {
      for (const inner of entries.filter((entry) => domainCovers(outer, entry))) {
        for (const host of hosts.filter((asked) => hostAllowed([inner], asked) !== undefined)) {
          judged++;
          assert.equal(hostAllowed([outer], host), outer, `${outer} covers ${inner}, which allows ${host}`);
        }
      }
    }
    assert.ok(judged > 100, `only ${judged} cases were of interest`);
  });
});
