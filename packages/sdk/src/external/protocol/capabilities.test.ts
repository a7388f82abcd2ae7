import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseCapabilities } from './capabilities.ts';

const read = (value: unknown) => parseCapabilities(Buffer.from(JSON.stringify(value)), 'scan');

describe('capabilities', () => {
  test('S4-33 are read with all their fields', () => {
    const all = {
      name: 'scan',
      version: '1.0.0',
      protocol_version: 1,
      description: 'd',
      requires_pack: false,
      network: true,
      requires_tools: ['other'],
      requires_outputs: ['other/outputs/x'],
      publisher: 'p',
      repo: 'r',
      signing_identity: 's',
      commands: ['run'],
    };
    assert.deepEqual(read(all), all);
    assert.deepEqual(read({ ...all, unknown: 1 }), all);
  });

  test('S4-33 need a pack and no network unless they say so', () => {
    assert.deepEqual(read({ name: 'scan', requires_tools: null }), {
      name: 'scan',
      version: '',
      protocol_version: 1,
      requires_pack: true,
      network: false,
      requires_tools: [],
      requires_outputs: [],
    });
  });

  const rows: readonly [string, unknown, string][] = [
    ['S4-35 of another tool', { name: 'other' }, 'other_tool'],
    ['S4-35 of no tool', { version: '1' }, 'invalid_capabilities'],
    ['S4-35 of a later protocol', { name: 'scan', protocol_version: 2 }, 'protocol_version'],
    ['S4-35 of no protocol', { name: 'scan', protocol_version: 0 }, 'protocol_version'],
    ['S4-33 with a wrong type', { name: 'scan', network: 'yes' }, 'invalid_capabilities'],
    ['S4-34 that are a list', [], 'not_an_object'],
  ];
  for (const [name, value, reason] of rows) {
    test(`${name} are refused`, () => {
      assert.throws(
        () => read(value),
        (thrown: { details?: { reason?: string } }) => thrown.details?.reason === reason,
      );
    });
  }

  test('S4-34 of more than 64 KiB are refused', () => {
    assert.throws(() => read({ name: 'scan', description: 'd'.repeat(65_536) }), /larger than/);
    assert.ok(read({ name: 'scan', description: 'd'.repeat(60_000) }));
  });
});
