import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addressBytes, isPublicAddress, judgeAddresses, whyNotPublic } from './judge-address.ts';

describe('isPublicAddress [S0-40]', () => {
  /** First, last, and the neighbours on both sides that are public. */
  const edges: [string, string, string[]][] = [
    ['0.0.0.0', '0.255.255.255', ['1.0.0.0']],
    ['10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
    ['100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
    ['127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
    ['169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
    ['172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
    ['192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
    ['192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
    ['192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
    ['192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
    ['198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
    ['198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
    ['203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
    ['224.0.0.0', '255.255.255.255', ['223.255.255.255']],
    ['::', '::', []],
    ['::1', '::1', []],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', []],
    ['100::', '100::ffff:ffff:ffff:ffff', []],
    ['2001:1::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:200::']],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db7::', '2001:db9::']],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe::', '3fff:1000::']],
    ['4000::', '5fff::', []],
    ['5f00::', '5f00:ffff::', []],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
    ['fe80::', 'febf::', []],
    ['fec0::', 'feff::', []],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ];
  for (const [first, last, neighbours] of edges) {
    test(`refuses ${first} to ${last} and nothing beside it [S0-40]`, () => {
      assert.deepEqual([first, last].map(isPublicAddress), [false, false]);
      assert.deepEqual(
        neighbours.filter((address) => !isPublicAddress(address)),
        [],
      );
    });
  }

  const wrapped = (address: string): string[] => {
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
    const flipped = `${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`;
    return [
      `::ffff:${address}`,
      `::ffff:${hex(a, b)}:${hex(c, d)}`,
      `::ffff:0:${address}`,
      `64:ff9b::${address}`,
      `2002:${hex(a, b)}:${hex(c, d)}::1`,
      `2001:0:${hex(a, b)}:${hex(c, d)}:0:0:${hex(247, 247)}:${hex(247, 247)}`,
      `2001:0:808:808:0:0:${flipped}`,
      `::${address}`,
    ];
  };

  for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1', '0.0.0.0']) {
    test(`refuses ${address} in every IPv6 wrapping [S0-40]`, () => {
      assert.deepEqual(wrapped(address).filter(isPublicAddress), []);
    });
  }

  test('lets a public address through in every wrapping that leads to it [S0-40]', () => {
    for (const address of ['8.8.8.8', '93.184.215.14']) {
      assert.deepEqual(
        wrapped(address).filter((form) => !isPublicAddress(form)),
        [],
      );
    }
  });

  test('judges a wrapped address like the address itself [S0-40]', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const expected = isPublicAddress(address);
        for (const form of wrapped(address)) assert.equal(isPublicAddress(form), expected, form);
      }),
    );
  });

  test('refuses what is not an address at all [S0-40]', () => {
    for (const text of ['', 'localhost', '8.8.8', 'fe80::1%eth0', '2606:4700::1%1', '0x8.8.8.8']) {
      assert.equal(whyNotPublic(text), 'not an address');
    }
  });

  test('lets ordinary addresses through [S0-40]', () => {
    for (const address of ['1.1.1.1', '93.184.215.14', '2606:4700:4700::1111', '2a00:1450:4001:830::200e', '2400::1']) {
      assert.equal(whyNotPublic(address), undefined, address);
    }
  });
});

describe('judgeAddresses [S0-40]', () => {
  const judge = (host: string, addresses: string[], listed: string[] = []) =>
    judgeAddresses({ host, port: 8080, addresses }, listed);

  test('keeps the public addresses of a name, in order [S0-40]', () => {
    assert.deepEqual(judge('a.test', ['10.0.0.1', '8.8.8.8', '::1', '2606:4700::1']), ['8.8.8.8', '2606:4700::1']);
  });

  test('refuses a name without public addresses and says where it leads [S0-40]', () => {
    assert.throws(() => judge('a.test', ['10.0.0.1', '::1']), {
      code: 'E_POLICY',
      message: 'Host resolves to no public address, but to 10.0.0.1 (private), ::1 (loopback): a.test',
    });
  });

  test('a private address may be dialled when the registry lists it, port included [S0-40]', () => {
    assert.deepEqual(judge('a.test', ['10.0.0.1'], ['10.0.0.1:8080']), ['10.0.0.1']);
    assert.deepEqual(judge('a.test', ['::1'], ['[::1]:8080']), ['::1']);
    assert.throws(() => judge('a.test', ['10.0.0.1'], ['10.0.0.1']), { code: 'E_POLICY' });
    assert.throws(() => judge('a.test', ['10.0.0.2'], ['10.0.0.1:8080']), { code: 'E_POLICY' });
  });

  test('localhost may be loopback and nothing else that is not public [S0-40]', () => {
    assert.deepEqual(judge('localhost', ['::1', '127.0.0.1', '10.0.0.1']), ['::1', '127.0.0.1']);
    assert.deepEqual(judge('app.localhost', ['127.0.0.1']), ['127.0.0.1']);
    assert.throws(() => judge('localhost', ['169.254.169.254']), { code: 'E_POLICY' });
    assert.throws(() => judge('localhost.evil.test', ['127.0.0.1']), { code: 'E_POLICY' });
    assert.throws(() => judge('evillocalhost', ['127.0.0.1']), { code: 'E_POLICY' });
  });
});

test('addressBytes reads every spelling of an address as the same bytes [S0-40]', () => {
  const loopback = [...new Array<number>(15).fill(0), 1];
  for (const text of ['::1', '0:0:0:0:0:0:0:1', '0::1', '::0001', '::0.0.0.1']) {
    assert.deepEqual(addressBytes(text), loopback, text);
  }
  assert.deepEqual(addressBytes('1.2.3.4'), [1, 2, 3, 4]);
  assert.deepEqual(addressBytes('::ffff:1.2.3.4')?.slice(10), [255, 255, 1, 2, 3, 4]);
});

test('addressBytes refuses what is not a plain address [S0-40]', () => {
  for (const text of [
    ...[
      '',
      '1',
      '1.2.3',
      '1.2.3.4.5',
      '256.1.1.1',
      '01.2.3.4',
      '0x1.2.3.4',
      ' 1.2.3.4',
      '1.2.3.4 ',
      ':',
      ':::',
      '::1::',
    ],
    ...[
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '12345::',
      'g::',
      'fe80::1%eth0',
      '[::1]',
      '1.2.3.4::',
      '::1.2.3',
      '1::2:3:4:5:6:7:8',
    ],
  ]) {
    assert.equal(addressBytes(text), undefined, text);
  }
});

test('addressBytes accepts exactly what the operating system takes for an address [S0-40]', () => {
  const part = fc.constantFrom('::', ':', '.', '0', '1', 'ff', 'ffff', '255', '256', '1.2.3.4', 'x', '%');
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.array(part, { maxLength: 10 }).map((parts) => parts.join('')),
  );
  let addresses = 0;
  fc.assert(
    fc.property(text, (address) => {
      const kind = isIP(address);
      if (kind === 6 && address.includes('%')) return;
      addresses += kind === 0 ? 0 : 1;
      assert.equal(addressBytes(address)?.length ?? 0, { 0: 0, 4: 4, 6: 16 }[kind]);
    }),
    { numRuns: 5000 },
  );
  assert.ok(addresses > 1000);
});
