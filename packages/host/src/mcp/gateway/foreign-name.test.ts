import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { foreignName } from './foreign-name.ts';

describe('names of foreign tools', () => {
  test('are prefix and name where that is safe, short and free', () => {
    assert.equal(foreignName({ server: 's', prefix: 'fs', tool: 'read_file' }, new Set()), 'fs_read_file');
  });

  test('end in a hash that does not depend on what else is mounted', () => {
    const origin = { server: 's', prefix: 'fs', tool: 'a/b' };
    const alone = foreignName(origin, new Set());
    assert.match(alone, /^fs_a_b_[0-9a-f]{6}$/);
    assert.equal(foreignName(origin, new Set(['fs_a_b', 'other'])), alone);
    assert.match(foreignName({ ...origin, tool: 'x'.repeat(60) }, new Set()), /^fs_x{30}_[0-9a-f]{6}$/);
  });

  test('never hide a tool that is there already', () => {
    const taken = new Set(['file_read']);
    assert.match(foreignName({ server: 's', prefix: 'file', tool: 'read' }, taken), /^file_read_[0-9a-f]{6}$/);
  });

  test('are unique, safe and short for whatever servers call their tools', () => {
    const origins = fc.array(fc.record({ server: fc.constantFrom('a', 'b'), tool: fc.string({ maxLength: 200 }) }));
    fc.assert(
      fc.property(origins, (list) => {
        const taken = new Set<string>();
        const names = list.map(({ server, tool }) => foreignName({ server, prefix: 'p', tool }, taken));
        assert.equal(new Set(names).size, list.length);
        assert.ok(names.every((name) => /^[A-Za-z0-9_-]{1,40}$/.test(name)));
      }),
    );
  });
});
