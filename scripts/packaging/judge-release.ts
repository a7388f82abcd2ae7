/** Whether a version may be published: one version everywhere, a changelog for it, a clean tree, provenance switched on. */
import type { Finding } from '../structure/finding.ts';

export interface ReleaseManifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly repository?: { readonly url?: string; readonly directory?: string };
  readonly publishConfig?: Readonly<Record<string, unknown>>;
}

export interface ReleaseFacts {
  /** Of the root, which is never published and carries the version of all. */
  readonly version: string;
  /** Folder under packages/ → its manifest. */
  readonly manifests: ReadonlyMap<string, ReleaseManifest>;
  /** Folder under packages/ → the version in package-lock.json. */
  readonly locked: ReadonlyMap<string, string | undefined>;
  readonly changelog: string;
  /** Tags of the repository. */
  readonly tags: readonly string[];
  /** What `git status --porcelain` prints. */
  readonly changes: string;
}

export function judgeRelease(facts: ReleaseFacts): Finding[] {
  return [...versions(facts), ...changelog(facts), ...provenance(facts), ...cleanTree(facts)];
}

function versions({ version, manifests, locked, tags }: ReleaseFacts): Finding[] {
  const shape = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version)
    ? []
    : [fail('package.json', `Not a version: ${version}`, 'Write MAJOR.MINOR.PATCH')];
  const different = [...manifests]
    .filter(([, manifest]) => manifest.version !== version)
    .map(([folder, manifest]) =>
      fail(`packages/${folder}/package.json`, `Version ${manifest.version}, not ${version}`, `Write ${version}`),
    );
  const stale = [...locked]
    .filter(([, found]) => found !== version)
    .map(([folder, found]) => fail('package-lock.json', `${folder} is ${found}, not ${version}`, 'Run npm install'));
  const taken = tags.includes(`v${version}`)
    ? [fail('package.json', `Version ${version} has a tag already`, 'Choose the next version')]
    : [];
  return [...shape, ...different, ...stale, ...taken];
}

function changelog({ version, changelog: text }: ReleaseFacts): Finding[] {
  const sections = new Map(
    text.split(/^## /m).map((section) => [/^\[([^\]]+)\]/.exec(section)?.[1] ?? '', section] as const),
  );
  const own = sections.get(version);
  const next = `Move what is under [Unreleased] to ## [${version}] - YYYY-MM-DD`;
  if (own === undefined) return [fail('CHANGELOG.md', `No section for ${version}`, next)];
  return [
    ...(/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/m.test(own) ? [] : [fail('CHANGELOG.md', `No date for ${version}`, next)]),
    ...(/^- /m.test(own) ? [] : [fail('CHANGELOG.md', `Nothing is listed for ${version}`, next)]),
    ...(/^- /m.test(sections.get('Unreleased') ?? '') ? [fail('CHANGELOG.md', 'Changes are unreleased', next)] : []),
  ];
}

/** npm signs where a package was built, and compares that with the repository that its manifest names. */
function provenance({ manifests }: ReleaseFacts): Finding[] {
  return [...manifests].flatMap(([folder, { private: isPrivate, publishConfig = {}, repository }]) => {
    const file = `packages/${folder}/package.json`;
    return [
      ...(isPrivate === true ? [fail(file, 'Package is private', 'Remove `private`')] : []),
      ...(publishConfig['provenance'] === true
        ? []
        : [fail(file, 'No provenance', 'Write "publishConfig": { "access": "public", "provenance": true }')]),
      ...(publishConfig['access'] === 'public' ? [] : [fail(file, 'Access is not public', 'Set publishConfig.access')]),
      ...(repository?.url !== undefined && repository.directory === `packages/${folder}`
        ? []
        : [noRepository(file, repository !== undefined)]),
    ];
  });
}

/**
 * The project has no public address yet, and none may be invented: that is left to do and does not fail. A `repository`
 * that is there must be complete.
 */
function noRepository(file: string, isThere: boolean): Finding {
  const what = isThere ? 'No repository with url and directory' : 'To do: no repository, because no address is known';
  const next = 'Provenance needs both: write `repository` once the project has an address';
  return { level: isThere ? 'fail' : 'warn', check: 'release', file, what, next };
}

function cleanTree({ changes }: ReleaseFacts): Finding[] {
  const files = changes.split('\n').filter((line) => line !== '');
  return files.length === 0
    ? []
    : [fail('work tree', `${files.length} files differ from the commit`, 'Commit or remove them')];
}

function fail(file: string, what: string, next: string): Finding {
  return { level: 'fail', check: 'release', file, what, next };
}
