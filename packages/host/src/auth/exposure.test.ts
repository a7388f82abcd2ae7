import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createExposure, type Exposure, type ExposureHeaders } from './exposure.ts';

const PORT = 7777;
const loopback = createExposure({ addresses: [{ address: '127.0.0.1', port: PORT }] });
const named = createExposure({
  addresses: [
    { address: '0.0.0.0', port: PORT },
    { address: 'fe80::1%eth0', port: PORT },
  ],
  allowHosts: ['Build.Example.com', 'proxy.example.com:8443', 'xn--mnchen-3ya.example', '2001:db8::1', '10.0.0.5'],
  allowOrigins: ['https://console.example.com', 'HTTP://Dev.Example.com:80', 'chrome-extension://abcdefgh'],
});
const isAllowed = (exposure: Exposure, headers: ExposureHeaders) => exposure.judge(headers) === undefined;

describe('createExposure judging Host', () => {
  for (const host of [
    'localhost:7777',
    'LOCALHOST:7777',
    'localhost.:7777',
    '127.0.0.1:7777',
    '[::1]:7777',
    '[0:0:0:0:0:0:0:1]:7777',
  ]) {
    test(`allows ${host} on loopback`, () => assert.ok(isAllowed(loopback, { host })));
  }

  for (const host of [
    'localhost',
    'localhost:7778',
    'localhost:07777',
    'localhost:',
    'localhost:77777',
    'localhost..:7777',
    '.localhost:7777',
    'a.localhost:7777',
    'localhost.evil:7777',
    'localhost.evil.com:7777',
    '127.0.0.1.evil.com:7777',
    '127.0.0.1.nip.io:7777',
    '127.0.0.1.:7777',
    '127.1:7777',
    '127.0.0.2:7777',
    '2130706433:7777',
    '0x7f000001:7777',
    '0x7f.1:7777',
    '0177.0.0.1:7777',
    '017700000001:7777',
    '127.0.0.01:7777',
    '0.0.0.0:7777',
    '0:7777',
    '[::]:7777',
    '[::ffff:127.0.0.1]:7777',
    '[::ffff:7f00:1]:7777',
    '[::1%lo]:7777',
    '[::1:7777',
    '::1:7777',
    '[127.0.0.1]:7777',
    '[::1]7777',
    'user@localhost:7777',
    'user:pass@localhost:7777',
    'evil.com@localhost:7777',
    'localhost:7777@evil.com',
    'localhost:7777/',
    'localhost:7777,evil.com',
    'localhost:7777 evil.com',
    ' localhost:7777',
    'localhost:7777\t',
    'localhost%00:7777',
    'localhost\0:7777',
    'xn--lcalhost-54a:7777',
    'lоcalhost:7777',
    'localhoſt:7777',
    '',
    ':7777',
    '*',
  ]) {
    test(`refuses ${JSON.stringify(host)} on loopback`, () => {
      const refusal = loopback.judge({ host });
      assert.equal(refusal?.code, 'E_POLICY');
      assert.equal(refusal?.details['gate'], 'exposure');
      assert.equal(refusal?.details['reason'], 'host_not_allowed');
    });
  }

  test('wants exactly one', () => {
    assert.ok(isAllowed(loopback, { host: ['localhost:7777'] }));
    for (const host of [undefined, [], ['localhost:7777', 'localhost:7777'], ['localhost:7777', 'evil.com']]) {
      assert.match(loopback.judge({ host })?.message ?? '', /Host headers/);
    }
  });

  test('takes a missing port for the default one of the scheme', () => {
    const web = createExposure({ addresses: [{ address: '::1', port: 80 }] });
    const safe = createExposure({ addresses: [{ address: '::1', port: 443 }], isTls: true });
    assert.ok(isAllowed(web, { host: 'localhost' }) && isAllowed(web, { host: '[::1]:80' }));
    assert.ok(isAllowed(safe, { host: 'localhost' }) && isAllowed(safe, { host: 'localhost:443' }));
    assert.ok(!isAllowed(web, { host: 'localhost:443' }) && !isAllowed(safe, { host: 'localhost:80' }));
  });

  test('allows what the operator named and the addresses it listens on, nothing like them', () => {
    for (const host of [
      'build.example.com',
      'BUILD.example.com.:9',
      'proxy.example.com:8443',
      'xn--mnchen-3ya.example:7777',
      '[2001:DB8:0::1]:7777',
      '10.0.0.5',
      '[fe80::1]:7777',
      'localhost:7777',
    ]) {
      assert.ok(isAllowed(named, { host }), host);
    }
    for (const host of [
      'example.com',
      'evil.build.example.com',
      'build.example.com.evil.com',
      'proxy.example.com',
      'proxy.example.com:443',
      'münchen.example:7777',
      '0.0.0.0:7777',
      '10.0.0.6:7777',
      '[2001:db8::1:7777]',
      '192.168.1.1:7777',
    ]) {
      assert.ok(!isAllowed(named, { host }), host);
    }
  });

  test('asks on a Unix socket for a loopback name of any port', () => {
    const unix = createExposure({ addresses: [], isUnix: true, allowHosts: ['docker'] });
    for (const host of ['localhost', 'localhost:80', '127.0.0.1:1', '[::1]', 'docker'])
      assert.ok(isAllowed(unix, { host }));
    for (const host of ['evil.com', 'localhost.evil.com', '', undefined]) assert.ok(!isAllowed(unix, { host }));
    assert.ok(!isAllowed(unix, { host: 'localhost', origin: 'http://localhost' }), 'no page of ours lives there');
  });

  test('lets nothing pass that a browser would look up in the DNS', () => {
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
    const look = fc.constantFrom('localhost', '127.0.0.1', '[::1]', '127.0.0.1.', 'localhost.', '7777', '0x7f000001');
    const joined = fc.array(
      fc.oneof(label, look, fc.constantFrom('.', '@', ':', '/', '\\', '#', '?', '%2e', ' ', '\0')),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    const own = new Set(['localhost', '127.0.0.1', '[::1]', 'localhost.']);
    fc.assert(
      fc.property(joined, (pieces) => {
        const host = `${pieces.join('')}:${PORT}`;
        if (!isAllowed(loopback, { host })) return;
        assert.ok(own.has(new URL(`http://${host}`).hostname), host);
      }),
      { numRuns: 5000 },
    );
    fc.assert(
      fc.property(fc.domain(), (domain) => !isAllowed(loopback, { host: `${domain}:${PORT}` })),
      { numRuns: 1000 },
    );
  });
});

describe('createExposure judging Origin', () => {
  test('needs none, and takes that of the Host itself', () => {
    assert.ok(isAllowed(loopback, { host: 'localhost:7777', origin: [] }));
    for (const host of ['localhost:7777', '127.0.0.1:7777', '[::1]:7777']) {
      assert.ok(isAllowed(loopback, { host, origin: `http://${host}` }));
    }
    const safe = createExposure({ addresses: [{ address: '127.0.0.1', port: 443 }], isTls: true });
    assert.ok(isAllowed(safe, { host: 'localhost', origin: 'https://localhost' }));
    assert.ok(!isAllowed(safe, { host: 'localhost', origin: 'http://localhost' }));
  });

  for (const origin of [
    'null',
    '',
    '*',
    'http://localhost',
    'http://localhost:3000',
    'https://localhost:7777',
    'http://127.0.0.1:7777',
    'http://localhost:7777/',
    'http://localhost:7777.evil.com',
    'http://evil.com@localhost:7777',
    'http://localhost:7777@evil.com',
    'http://localhost.evil.com:7777',
    'http://evil.com#localhost:7777',
    'http://evil.com\\@localhost:7777',
    'http:localhost:7777',
    '//localhost:7777',
    'localhost:7777',
    'http://localhost:7777 http://evil.com',
    'http://localhost:7777, http://evil.com',
    'https://evil.com',
    'file://',
    'javascript://localhost:7777',
  ]) {
    test(`refuses ${JSON.stringify(origin)} for Host localhost:7777`, () => {
      const refusal = loopback.judge({ host: 'localhost:7777', origin });
      assert.equal(refusal?.code, 'E_POLICY');
      assert.equal(refusal?.details['reason'], 'origin_not_allowed');
    });
  }

  test('refuses two, even equal ones', () => {
    const origin = ['http://localhost:7777', 'http://localhost:7777'];
    assert.match(loopback.judge({ host: 'localhost:7777', origin })?.message ?? '', /2 Origin headers/);
  });

  test('takes exactly the origins the operator named', () => {
    const host = 'localhost:7777';
    for (const origin of [
      'https://console.example.com',
      'https://console.example.com:443',
      'http://dev.example.com',
      'chrome-extension://abcdefgh',
    ]) {
      assert.ok(isAllowed(named, { host, origin, secFetchSite: 'cross-site' }), origin);
    }
    for (const origin of [
      'http://console.example.com',
      'https://console.example.com:8443',
      'https://a.console.example.com',
      'https://console.example.com.evil.com',
      'https://dev.example.com',
      'chrome-extension://abcdefg',
      'null',
    ]) {
      assert.ok(!isAllowed(named, { host, origin }), origin);
    }
  });

  test('refuses a page of another site that sends no Origin', () => {
    const host = 'localhost:7777';
    for (const secFetchSite of ['cross-site', 'same-site', 'nonsense', ['none', 'cross-site']]) {
      assert.equal(loopback.judge({ host, secFetchSite })?.details['reason'], 'origin_not_allowed');
    }
    for (const secFetchSite of [undefined, 'none', 'same-origin'])
      assert.ok(isAllowed(loopback, { host, secFetchSite }));
  });

  test('lets no page pass but its own, whatever it is called', () => {
    fc.assert(
      fc.property(fc.webUrl(), (url) => !isAllowed(loopback, { host: 'localhost:7777', origin: new URL(url).origin })),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        (text) => !isAllowed(loopback, { host: 'localhost:7777', origin: text || 'x' }),
      ),
      { numRuns: 1000 },
    );
  });
});

describe('createExposure answering CORS', () => {
  test('names an allowed origin to itself and nothing to others', () => {
    assert.deepEqual(named.corsHeaders('https://console.example.com'), {
      'Access-Control-Allow-Origin': 'https://console.example.com',
      'Access-Control-Expose-Headers': 'Mcp-Session-Id, Retry-After',
      Vary: 'Origin',
    });
    for (const origin of [undefined, 'null', 'https://evil.com', 'nonsense']) {
      assert.deepEqual(named.corsHeaders(origin), { Vary: 'Origin' });
      assert.deepEqual(named.preflightHeaders(origin), { Vary: 'Origin' });
    }
  });

  test('tells a preflight of an allowed origin what it may send', () => {
    const headers = named.preflightHeaders('https://console.example.com');
    assert.match(headers['Access-Control-Allow-Headers'] ?? '', /\bAuthorization\b/);
    assert.match(headers['Access-Control-Allow-Methods'] ?? '', /\bDELETE\b/);
    assert.equal(headers['Access-Control-Allow-Origin'], 'https://console.example.com');
  });

  test('opens to everyone only by a lone star, without credentials and without null', () => {
    const open = createExposure({ addresses: [{ address: '127.0.0.1', port: PORT }], allowOrigins: ['*'] });
    assert.ok(isAllowed(open, { host: 'localhost:7777', origin: 'https://any.example' }));
    for (const origin of ['null', '', 'any.example', 'https://any.example/page', 'https://user@any.example']) {
      assert.ok(!isAllowed(open, { host: 'localhost:7777', origin }), origin);
    }
    assert.ok(!isAllowed(open, { host: 'evil.com:7777', origin: 'https://any.example' }));
    assert.equal(open.corsHeaders('https://any.example')['Access-Control-Allow-Origin'], '*');
    for (const headers of [
      open.preflightHeaders('https://any.example'),
      named.preflightHeaders('chrome-extension://abcdefgh'),
    ]) {
      assert.ok(!Object.keys(headers).some((name) => /credentials/i.test(name)));
    }
    for (const allowOrigins of [
      ['*', 'https://a.example'],
      ['*.example.com'],
      ['https://*.example.com'],
      ['null'],
      ['a.example'],
    ]) {
      assert.throws(() => createExposure({ addresses: [], allowOrigins }), { code: 'E_VALIDATION_FAIL' });
    }
    for (const allowHosts of [['*'], ['*.example.com'], ['http://a.example'], ['2130706433'], ['']]) {
      assert.throws(() => createExposure({ addresses: [], allowHosts }), { code: 'E_VALIDATION_FAIL' });
    }
  });
});
