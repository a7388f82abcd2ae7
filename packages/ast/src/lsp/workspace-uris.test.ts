import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { WorkspaceUris } from './workspace-uris.ts';

const uris = new WorkspaceUris({ root: '/srv/work space', privatePaths: ['/opt', '/opt/tool chains'] });
const isRefused = (thrown: unknown) => isToolError(thrown) && thrown.code === 'E_POLICY';

describe('file names inside and outside the sandbox', () => {
  test('a path survives the way to the server and back, whatever it is called [S0-56]', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter((text) => !/[/\0]|^\.{1,2}$/u.test(text));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        const path = names.join('/');
        assert.equal(uris.toPath(uris.toUri(path)), path);
      }),
    );
  });

  for (const path of ['/etc/passwd', '../other', 'a/../../b', '..', '', 'a\0b']) {
    test(`refuses the path ${JSON.stringify(path)} [S0-56]`, () => assert.throws(() => uris.toUri(path), isRefused));
  }

  test('knows the root and one spelling of each path [S0-56]', () => {
    assert.equal(uris.toPath(uris.toUri('.')), '.');
    assert.equal(uris.clean('./src//a/../b.ts'), 'src/b.ts');
    assert.equal(uris.clean('src/'), 'src');
  });

  const outside = [
    'file:///etc/passwd',
    'file:///srv/work%20space-other/a.ts',
    'file:///srv/work%20space/../secret',
    'file:///srv/work%20space/%2e%2e/secret',
    'file://elsewhere/srv/work%20space/a.ts',
    'file:///srv/work%20space/a%2Fb',
    'bundled:///libs/lib.d.ts',
    'no uri',
  ];
  for (const uri of outside) {
    test(`names ${uri} without its place [S0-56]`, () => {
      assert.equal(uris.toPath(uri), null);
      const name = uris.nameOf(uri);
      assert.match(name, /^external:[0-9a-f]{12}(?:\/[\w.@+-]+)?$/);
      assert.equal(uris.nameOf(uri), name);
    });
  }

  test('takes places of the host out of text, and leaves the rest [S0-56]', () => {
    const text =
      'see file:///srv/work%20space/src/a.ts and [b](file:///usr/lib/b.py), /srv/work space/c.ts in /srv/work space';
    assert.match(uris.hideIn(text), /^see src\/a\.ts and \[b\]\(external:[0-9a-f]{12}\/b\.py\), c\.ts in \.$/);
    assert.equal(uris.hideIn('/opt/tool chains/x and /opt/y'), 'external:/x and external:/y');
    assert.equal(uris.hideIn('GET /api/users'), 'GET /api/users');
  });

  test('a root that is no folder of its own is a mistake of the wiring', () => {
    assert.throws(() => new WorkspaceUris({ root: 'relative' }), TypeError);
    assert.throws(() => new WorkspaceUris({ root: '/' }), TypeError);
  });
});
