/** The licences of foreign code inside a bundle, which ask to be passed on with it. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** `inputs`: the files a bundle was made of, relative to `root`. */
export function licencesOf(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
  const entries = [...folders].map((folder) => entryOf(path.join(root, folder)));
  return entries.toSorted().join(`\n${'-'.repeat(80)}\n\n`);
}

function entryOf(folder: string): string {
  const manifest = readFileSync(path.join(folder, 'package.json'), 'utf8');
  const { name, version, license } = JSON.parse(manifest) as Record<string, string>;
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  if (texts.length === 0) throw new Error(`No licence to pass on, so it must stay outside the bundle: ${name}`);
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
