/** The command as it is in the sources, for tests that must not depend on a build. Run with `-C tool-runtime-source`. */
import { main } from '../src/cli/main.ts';

process.exitCode = await main(process.argv.slice(2));
