/**
 * Within sdk only platform/ touches disk, processes, sockets and threads; journal/store/ may open databases. What testing/
 * ships makes and clears away scratch folders, as tests do, and is as free as they are. tool-kit/ reads and writes
 * files: it runs in the process of an external tool, where no runtime is.
 */
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

const GUARDED =
  /^(?:node:)?(fs|child_process|net|tls|dgram|http|http2|https|worker_threads|cluster|sqlite)(?:\/promises)?$/;

const FREE = ['packages/sdk/src/platform/', 'packages/sdk/src/testing/'];
const ALSO = [
  { folder: 'packages/sdk/src/journal/store/', module: 'sqlite' },
  { folder: 'packages/sdk/src/tool-kit/', module: 'fs' },
];

export function checkPlatformModules(tree: Tree): Finding[] {
  return tree.sources
    .filter((file) => file.path.startsWith('packages/sdk/src/') && !file.isTest)
    .flatMap((file) =>
      file.imports
        .filter((link) => isGuarded(file.path, link.specifier))
        .map((link) => ({
          level: 'fail' as const,
          check: 'platform-modules',
          file: file.path,
          line: file.lineAt(link.offset),
          what: `Operating system access outside platform/: ${link.specifier}`,
          next: 'Put the access into packages/sdk/src/platform/ and import that',
        })),
    );
}

function isGuarded(file: string, specifier: string): boolean {
  const module = GUARDED.exec(specifier)?.[1];
  if (module === undefined || FREE.some((folder) => file.startsWith(folder))) return false;
  return !ALSO.some((exception) => exception.module === module && file.startsWith(exception.folder));
}
