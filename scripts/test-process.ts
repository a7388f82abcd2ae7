/**
 * Loaded before every test file.
 *
 * In CI the random tests use one seed, so that a run says something about the change and not about luck; elsewhere they
 * look for new cases every time. A failure prints its seed either way.
 *
 * A file ends soon after its tests, also when one of them failed and left a server or a timer behind. The runner ends a
 * file that hangs with SIGTERM, which the file under test may have taken for itself; what is still there a minute later
 * ends here. So one file never holds up the whole run. Not `--test-force-exit`: it loses results that are on their way.
 */
import { after } from 'node:test';
import fc from 'fast-check';

const AFTER_TESTS_MS = 5_000;
/** A minute more than the limit of the runner. */
const LIMIT_MS = 960_000;

if (process.env['CI'] === 'true') fc.configureGlobal({ seed: 20_261_115 });
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LIMIT_MS).unref();
  after(() => {
    setTimeout(() => process.exit(), AFTER_TESTS_MS).unref();
  });
}
