/** What publint reports about the manifest and its files, and what TypeScript finds at each entry (attw). */
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { Finding } from '../structure/finding.ts';
import type { Tarball } from './pack-packages.ts';
import { packagingFinding } from './packaging-finding.ts';

interface Exception {
  isMeant(problem: Problem): boolean;
  readonly reason: string;
}

/** Problems that are decisions. Each holds for every entry, or it would not be one. */
const EXCEPTIONS: readonly Exception[] = [
  {
    isMeant: ({ kind }) => kind === 'CJSResolvesToESM',
    reason: 'ESM only; every supported Node can require() it, which the installed packages are tried with',
  },
  {
    isMeant: (problem) => problem.kind === 'NoResolution' && problem.resolutionKind === 'node10',
    reason: 'The resolution of Node 10 knows no exports map; no supported Node and no current bundler resolves so',
  },
];

export async function judgeEntries(tarball: Tarball): Promise<Finding[]> {
  const bytes = new Uint8Array(readFileSync(tarball.file));
  return [...(await lintManifest(tarball, bytes)), ...(await resolveTypes(tarball, bytes))];
}

async function lintManifest({ manifest }: Tarball, bytes: Uint8Array<ArrayBuffer>): Promise<Finding[]> {
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  return messages.map((message) =>
    packagingFinding(
      'publint',
      manifest.name,
      formatMessage(message, pkg, { color: false }) ?? message.code,
      `Code ${message.code} at publint.dev/rules`,
    ),
  );
}

async function resolveTypes({ manifest }: Tarball, bytes: Uint8Array): Promise<Finding[]> {
  const analysis = await checkPackage(createPackageFromTarballData(bytes));
  if (!('problems' in analysis))
    return [packagingFinding('attw', manifest.name, 'No types', 'Name a .d.ts under `types` of each entry')];
  return analysis.problems
    .filter((problem) => !EXCEPTIONS.some(({ isMeant }) => isMeant(problem)))
    .map((problem) =>
      packagingFinding('attw', manifest.name, JSON.stringify(problem), `See ${problem.kind} in its documentation`),
    );
}
