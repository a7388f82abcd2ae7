import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { releaseFacts } from '../release.ts';
import { judgeRelease, type ReleaseFacts, type ReleaseManifest } from './judge-release.ts';

const MANIFEST: ReleaseManifest = {
  name: '@tool-runtime/sdk',
  version: '1.2.0',
  repository: { url: 'git+https://example.org/tool-runtime.git', directory: 'packages/sdk' },
  publishConfig: { access: 'public', provenance: true },
};

const GOOD: ReleaseFacts = {
  version: '1.2.0',
  manifests: new Map([['sdk', MANIFEST]]),
  locked: new Map([['sdk', '1.2.0']]),
  changelog:
    '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-16\n\n### Added\n\n- A thing.\n\n## [1.1.0] - 2026-01-01\n',
  tags: ['v1.1.0'],
  changes: '',
};

const withManifest = (changed: Partial<ReleaseManifest>): ReleaseFacts => ({
  ...GOOD,
  manifests: new Map([['sdk', { ...MANIFEST, ...changed }]]),
});

describe('judgeRelease', () => {
  test('finds nothing wrong with a version that is ready', () => {
    assert.deepEqual(judgeRelease(GOOD), []);
  });

  for (const [what, facts, expected] of [
    [
      'a version that is none',
      { ...GOOD, version: '1.2', locked: new Map(), manifests: new Map() },
      'Not a version: 1.2',
    ],
    ['a package of another version', withManifest({ version: '1.1.0' }), 'Version 1.1.0, not 1.2.0'],
    ['a lockfile that was not updated', { ...GOOD, locked: new Map([['sdk', '1.1.0']]) }, 'sdk is 1.1.0, not 1.2.0'],
    ['a version that was published', { ...GOOD, tags: ['v1.2.0'] }, 'Version 1.2.0 has a tag already'],
    ['a changelog without it', { ...GOOD, changelog: '## [Unreleased]\n' }, 'No section for 1.2.0'],
    ['a section without a date', { ...GOOD, changelog: '## [1.2.0]\n\n- A thing.\n' }, 'No date for 1.2.0'],
    ['an empty section', { ...GOOD, changelog: '## [1.2.0] - 2026-11-16\n' }, 'Nothing is listed for 1.2.0'],
    [
      'changes that are unreleased',
      { ...GOOD, changelog: GOOD.changelog.replace('[Unreleased]', '[Unreleased]\n\n- More.') },
      'Changes are unreleased',
    ],
    ['a private package', withManifest({ private: true }), 'Package is private'],
    ['a package without provenance', withManifest({ publishConfig: { access: 'public' } }), 'No provenance'],
    ['restricted access', withManifest({ publishConfig: { provenance: true } }), 'Access is not public'],
    ['a package of no repository', withManifest({ repository: {} }), 'No repository with url and directory'],
    [
      'a repository without a folder',
      withManifest({ repository: { url: 'git+x' } }),
      'No repository with url and directory',
    ],
    ['a tree that is not clean', { ...GOOD, changes: ' M README.md\n' }, '1 files differ from the commit'],
  ] as const) {
    test(`refuses ${what}`, () => {
      assert.ok(
        judgeRelease(facts).some((finding) => finding.what === expected && finding.next !== ''),
        JSON.stringify(judgeRelease(facts)),
      );
    });
  }

  test('names a missing repository as left to do, which does not fail', () => {
    const { repository: _, ...rest } = MANIFEST;
    const found = judgeRelease({ ...GOOD, manifests: new Map([['sdk', rest]]) });
    assert.deepEqual(
      found.map(({ level, what }) => [level, what]),
      [['warn', 'To do: no repository, because no address is known']],
    );
  });

  test('reads the facts of this repository, whose packages agree in version and ask for provenance', () => {
    const facts = releaseFacts(path.join(import.meta.dirname, '..', '..'));
    assert.equal(facts.manifests.size, 7);
    const wrong = judgeRelease(facts).map(({ what }) => what);
    assert.deepEqual(
      wrong.filter((what) => /^(?:Version|Not a version|No provenance|Access|Package is private)/.test(what)),
      [],
    );
  });
});
