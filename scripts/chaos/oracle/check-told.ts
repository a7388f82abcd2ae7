/** What clients were told against what lies on disk: files, trees, tokens, commits, the counter. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problems } from '../../../packages/host/test/load/problems.ts';
import { git } from '../stage/plant-repository.ts';
import { COUNTER, type Site } from '../stage/site.ts';

export function checkTold(site: Site, problems: Problems): void {
  site.files.check(problems);
  site.tokens.check(problems);
  checkCommits(site.folder, site.commits, problems);
  checkCommits(site.remote, site.pushed, problems);
  checkCounter(site, problems);
}

function checkCommits(folder: string, hashes: ReadonlySet<string>, problems: Problems): void {
  for (const hash of hashes) {
    try {
      git(folder, 'cat-file', '-e', `${hash}^{commit}`);
    } catch {
      problems.add(`acknowledged commit is missing in ${folder}: ${hash}`);
    }
  }
}

function checkCounter({ name, folder, counter }: Site, problems: Problems): void {
  const found = Number(readFileSync(join(folder, COUNTER), 'utf8'));
  judgeCounter(name, found, counter, problems);
}

export function judgeCounter(
  name: string,
  found: number,
  { acknowledged, unknown }: Site['counter'],
  problems: Problems,
): void {
  if (found >= acknowledged && found <= acknowledged + unknown) return;
  problems.add(`counter of ${name} is ${found}: ${acknowledged} steps were acknowledged, ${unknown} are unknown`);
}
