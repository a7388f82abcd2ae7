/**
 * The second half of npm run build: writes the JavaScript that is published. The compiler has checked the types and
 * written the declarations; development, tests and scripts run the sources themselves.
 *
 * One file per entry of a package, with shared and lazily loaded parts as chunks beside them. Our packages stay apart,
 * so that a program has each class once. The command is a bundle of its own with all of them inside: it is a program,
 * no program imports it, and it starts in a fraction of the time.
 */
import path from 'node:path';
import { bundleCommand, bundlePackage } from './bundling/bundle.ts';
import { bundleConsole } from './bundling/bundle-console.ts';
import { writeOutputs } from './bundling/write-outputs.ts';
import { PUBLISHED } from './packaging/published-packages.ts';

const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..'));
await Promise.all(
  PUBLISHED.map(async ({ folder }) => {
    const place = path.join(root, 'packages', folder);
    const bundles = [await bundlePackage(place)];
    if (folder === 'host') bundles.push(await bundleCommand(place), await bundleConsole(path.dirname(place)));
    writeOutputs(place, bundles.flat());
  }),
);
