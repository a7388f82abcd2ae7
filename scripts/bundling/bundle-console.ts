/** The pages of the console: one script, one style sheet and parts that load later, each with a digest in its name. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import type { Output } from './bundle.ts';
import { licencesOf } from './licences.ts';

const ADDRESS = '/console';

/** `packages`: the folder of all packages. The result goes into the one that serves it. */
export async function bundleConsole(packages: string): Promise<Output[]> {
  const source = path.join(packages, 'console/src');
  const target = path.join(packages, 'host/dist/console');
  const { outputFiles, metafile } = await build({
    entryPoints: [path.join(source, 'main.tsx')],
    outdir: target,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    conditions: ['tool-runtime-source'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    minify: true,
    metafile: true,
    write: false,
    logLevel: 'warning',
    plugins: [
      {
        // `{ z }` is all of zod, with the languages of its messages; `* as z` is what is used.
        name: 'used-of-zod',
        setup: ({ onLoad }) =>
          onLoad({ filter: /packages\/protocol\/src\/.*\.ts$/ }, ({ path: file }) => ({
            contents: readFileSync(file, 'utf8').replace("import { z } from 'zod';", "import * as z from 'zod';"),
            loader: 'ts',
          })),
      },
    ],
  });
  const files = outputFiles.map((file) => ({ path: file.path, text: file.text }));
  const nameOf = (end: string): string =>
    path.basename(
      files.find((file) => file.path.endsWith(end) && path.basename(file.path).startsWith('main-'))?.path ?? '',
    );
  const icon = readFileSync(path.join(source, 'icon.svg'), 'utf8');
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  const page = readFileSync(path.join(source, 'index.html'), 'utf8')
    .replace('%STYLE%', `${ADDRESS}/${nameOf('.css')}`)
    .replace('%SCRIPT%', `${ADDRESS}/${nameOf('.js')}`)
    .replace('%ICON%', `${ADDRESS}/${iconName}`);
  return [
    ...files,
    { path: path.join(target, iconName), text: icon },
    { path: path.join(target, 'index.html'), text: page },
    {
      path: path.join(target, 'THIRD-PARTY-LICENSES'),
      text: licencesOf(process.cwd(), Object.keys(metafile.inputs)),
    },
  ];
}
