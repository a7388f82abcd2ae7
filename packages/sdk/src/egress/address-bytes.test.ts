import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressBytes } from './address-bytes.ts';

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
