import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { judgeRedirect, judgeUrl } from './judge-url.ts';

const LISTED = [
  'crates.io',
  '*.example.org',
  'api.test:8443',
  '127.0.0.1',
  '127.0.0.1:3000',
  '[::1]',
  'xn--bcher-kva.example',
];

/** The entry that lets a URL through, or the reason why none does. */
function verdict(raw: string, listed: readonly string[] = LISTED): string {
  try {
    return judgeUrl(raw, listed).entry;
  } catch (refusal) {
    if (!isToolError(refusal)) throw refusal;
    const { gate, rule, field, next, reason } = refusal.details;
    assert.deepEqual(
      [refusal.code, gate, rule, field, typeof next],
      ['E_POLICY', 'rule', 'sec.network.allowlist', 'network.allowed_domains', 'string'],
    );
    return `refused: ${reason}`;
  }
}

describe('judgeUrl [S0-11]', () => {
  const rows: [string, string][] = [
    ['https://crates.io/', 'crates.io'],
    ['http://crates.io', 'crates.io'],
    ['HTTPS://CRATES.IO/a?b#c', 'crates.io'],
    ['https://crates.io./', 'crates.io'],
    ['https://crates.io:443/', 'crates.io'],
    ['https://crates.io:80/', 'crates.io'],
    ['https://crates.io:8443/', 'refused: not_listed'],
    ['https://crates.io:22/', 'refused: not_listed'],
    ['https://crates.io../', 'refused: not_listed'],
    ['https://static.crates.io/', 'refused: not_listed'],
    ['https://crates.io.evil.test/', 'refused: not_listed'],
    ['https://evilcrates.io/', 'refused: not_listed'],
    ['https://a.example.org/', '*.example.org'],
    ['https://a.b.example.org/', '*.example.org'],
    ['https://example.org/', 'refused: not_listed'],
    ['https://a.example.org:8443/', 'refused: not_listed'],
    ['https://api.test:8443/x', 'api.test:8443'],
    ['https://api.test/x', 'refused: not_listed'],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example/', 'xn--bcher-kva.example'],
    ['https://ｃｒａｔｅｓ.io/', 'crates.io'],
    ['https://cr%61tes.io/', 'crates.io'],
    ['https://crates.io/%0d%0aHost:%20evil', 'crates.io'],
    ['http://[::1]/', '[::1]'],
    ['http://[0:0:0:0:0:0:0:1]/', '[::1]'],
    ['http://[::1]:81/', 'refused: not_listed'],
    ['http://[::ffff:127.0.0.1]/', 'refused: not_listed'],
    ['http://[::127.0.0.1]/', 'refused: not_listed'],
    ['https://user@crates.io/', 'refused: userinfo'],
    ['https://user:secret@crates.io/', 'refused: userinfo'],
    ['https://crates.io@evil.test/', 'refused: userinfo'],
    ['https://crates.io:443@evil.test/', 'refused: userinfo'],
    ['https://evil.test#@crates.io/', 'refused: not_listed'],
    ['https://evil.test?@crates.io/', 'refused: not_listed'],
    ['https://evil.test\\@crates.io/', 'refused: deceptive_character'],
    ['https:\\\\crates.io/', 'refused: deceptive_character'],
    ['https://cra\ttes.io/', 'refused: deceptive_character'],
    ['https://cra\ntes.io/', 'refused: deceptive_character'],
    ['https://crates.io/\r\nHost: evil', 'refused: deceptive_character'],
    [' https://crates.io/', 'refused: deceptive_character'],
    ['https://crates.io/ ', 'refused: deceptive_character'],
    ['https://crates.io/a b', 'refused: deceptive_character'],
    ['https://crates.io/\u0000', 'refused: deceptive_character'],
    ['https://crates\u00a0.io/', 'refused: deceptive_character'],
    ['https://crates\u00ad.io/', 'refused: deceptive_character'],
    ['https://crates\u200b.io/', 'refused: deceptive_character'],
    ['https://\u202ecrates.io/', 'refused: deceptive_character'],
    ['\ufeffhttps://crates.io/', 'refused: deceptive_character'],
    ['https://crates.io/\ud800', 'refused: deceptive_character'],
    ['ftp://crates.io/', 'refused: scheme'],
    ['file:///etc/passwd', 'refused: scheme'],
    ['data:text/plain,x', 'refused: scheme'],
    ['javascript:alert(1)', 'refused: scheme'],
    ['crates.io', 'refused: unparsable'],
    ['//crates.io/', 'refused: unparsable'],
    ['', 'refused: unparsable'],
    ['https://', 'refused: unparsable'],
    ['https://crates.io:99999/', 'refused: unparsable'],
    [`https://crates.io/${'a'.repeat(9000)}`, 'refused: too_long'],
  ];
  for (const [raw, expected] of rows) {
    test(`${JSON.stringify(raw).slice(0, 50)} is ${expected} [S0-11]`, () => assert.equal(verdict(raw), expected));
  }

  for (const spelling of [
    '127.0.0.1',
    '127.0.0.1.',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '127.1',
    '127.0.1',
    '0x7f.1',
    '①②⑦.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
  ]) {
    test(`the address spelled ${spelling} passes only where 127.0.0.1 is listed [S0-11]`, () => {
      assert.equal(verdict(`http://${spelling}/`, ['crates.io', '*.0.1', '*.1']), 'refused: not_listed');
      assert.equal(verdict(`http://${spelling}:3000/`, ['127.0.0.1']), 'refused: not_listed');
      assert.equal(verdict(`http://${spelling}:3000/`), '127.0.0.1:3000');
    });
  }

  test('allows nothing when nothing is listed [S0-18]', () => {
    assert.equal(verdict('https://crates.io/', []), 'refused: not_listed');
  });

  test('answers the URL to dial: host in normal form, port always known [S0-11]', () => {
    const { url, host, port } = judgeUrl('http://CRATES.io.:80/a?q=1', LISTED);
    assert.deepEqual([url.href, host, port], ['http://crates.io/a?q=1', 'crates.io', 80]);
    assert.equal(judgeUrl('https://api.test:8443/', LISTED).port, 8443);
  });

  test('names the host it refuses and never the rest of the URL [S0-11]', () => {
    assert.throws(() => judgeUrl('https://evil.test:81/path?token=hush', LISTED), {
      message: 'Host is not in the allowlist: evil.test:81',
      details: {
        gate: 'rule',
        rule: 'sec.network.allowlist',
        field: 'network.allowed_domains',
        host: 'evil.test:81',
        reason: 'not_listed',
        next: 'contact a listed host, or ask the operator to add evil.test:81 to network.allowed_domains',
      },
    });
  });

  test('never allows a text that the URL parser would dial differently [S0-11] (deep)', () => {
    const piece = fc.constantFrom(
      ...[
        'crates.io',
        'evil.test',
        '@',
        ':',
        '/',
        '\\',
        '?',
        '#',
        '.',
        '..',
        '%2e',
        '\t',
        '\n',
        ' ',
        '127.1',
        '0x7f',
        '[',
        ']',
      ],
      ...['::1', '443', '8443', 'a.example.org', 'http:', 'https:', '//', '\u00ad', '。', 'ß', '*', '&', ';'],
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 7 }).map((pieces) => `https://${pieces.join('')}`),
      fc
        .tuple(fc.constantFrom('https://', 'http://', 'https:', '//'), fc.array(piece, { maxLength: 6 }))
        .map(([scheme, rest]) => scheme + rest.join('')),
      fc.webUrl(),
      fc.string(),
    );
    let allowed = 0;
    fc.assert(
      fc.property(text, (raw) => {
        let judged: ReturnType<typeof judgeUrl>;
        try {
          judged = judgeUrl(raw, LISTED);
        } catch (refusal) {
          assert.ok(isToolError(refusal) && refusal.code === 'E_POLICY');
          return;
        }
        allowed++;
        const plain = new URL(raw);
        assert.equal(judged.host, plain.hostname.replace(/\.$/, ''));
        assert.equal(judged.url.hostname, judged.host);
        assert.equal(judged.port, Number(plain.port || (plain.protocol === 'https:' ? 443 : 80)));
        assert.equal(plain.username + plain.password, '');
        const bare = judged.entry.replace(/^\*/, '').replace(/:\d+$/, '');
        assert.ok(judged.host === bare || (judged.entry.startsWith('*') && judged.host.endsWith(bare)));
      }),
      { numRuns: 20_000 },
    );
    assert.ok(allowed > 200, `only ${allowed} texts were allowed`);
  });
});

describe('judgeRedirect [S0-40]', () => {
  const from = new URL('https://crates.io/a/b');
  const target = (location: string): string => {
    try {
      return judgeRedirect(location, from, LISTED).url.href;
    } catch (refusal) {
      return `refused: ${isToolError(refusal) ? refusal.details['reason'] : refusal}`;
    }
  };
  const rows: [string, string][] = [
    ['c', 'https://crates.io/a/c'],
    ['/c', 'https://crates.io/c'],
    ['//a.example.org/c', 'https://a.example.org/c'],
    ['https://a.example.org/', 'https://a.example.org/'],
    ['//evil.test/', 'refused: not_listed'],
    ['/\\evil.test/', 'refused: deceptive_character'],
    ['\t//evil.test/', 'refused: deceptive_character'],
    ['https://user:pw@crates.io/', 'refused: userinfo'],
    ['javascript:1', 'refused: scheme'],
  ];
  for (const [location, expected] of rows) {
    test(`${JSON.stringify(location)} is ${expected} [S0-40]`, () => assert.equal(target(location), expected));
  }
});
