import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHttpAddress } from './serve-options.ts';

test('reads names, addresses of both families and none', () => {
  assert.deepEqual(parseHttpAddress('127.0.0.1:0'), { hostname: '127.0.0.1', port: 0 });
  assert.deepEqual(parseHttpAddress('[::1]:7411'), { hostname: '::1', port: 7411 });
  assert.deepEqual(parseHttpAddress('build-host.local:65535'), { hostname: 'build-host.local', port: 65_535 });
  assert.equal(parseHttpAddress('none'), undefined);
});

for (const text of [
  '',
  '7411',
  ':7411',
  '127.0.0.1',
  '127.0.0.1:',
  '::1:7411',
  'a b:1',
  'host:65536',
  'host:-1',
  'host:1x',
]) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseHttpAddress(text), /--http takes HOST:PORT/);
  });
}
