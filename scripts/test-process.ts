/**
 * Loaded before every test file.
 *
 * In CI the random tests use one seed, so that a run says something about the change and not about luck; elsewhere they
 * look for new cases every time. A failure prints its seed either way.
 *
 * A file ends soon after its tests, also when one of them failed and left a server or a timer behind. The runner ends a
 * test that hangs; a file in which no test has ended a minute later ends here, because the runner's SIGTERM may have been
 * taken by the file under test. So one file never holds up the whole run, and a long one may take its time. Not
 * `--test-force-exit`: it loses results that are on their way.
 */
import { after, afterEach } from 'node:test';
import fc from 'fast-check';

const AFTER_TESTS_MS = 5_000;
/** A minute more than the limit of the runner for one test. */
const SILENCE_MS = 960_000;

if (process.env['CI'] === 'true') fc.configureGlobal({ seed: 20_261_115 });
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const silence = setTimeout(() => process.kill(process.pid, 'SIGKILL'), SILENCE_MS).unref();
  afterEach(() => {
    silence.refresh();
  });
  after(() => {
    setTimeout(() => process.exit(), AFTER_TESTS_MS).unref();
  });
}
