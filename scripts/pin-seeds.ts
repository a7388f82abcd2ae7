/**
 * Loaded before every test file. In CI the random tests use one seed, so that a run says something about the change and
 * not about luck; elsewhere they look for new cases every time. A failure prints its seed either way.
 */
import fc from 'fast-check';

if (process.env['CI'] === 'true') fc.configureGlobal({ seed: 20_261_115 });
