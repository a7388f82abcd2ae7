/**
 * Loaded into the host before anything else: on SIGUSR2 it collects garbage and says what is left. The size of a process
 * says little about what it holds on to, because V8 collects as late as it can.
 */
import { writeFileSync } from 'node:fs';

const file = process.env['LOAD_LIVE_MEMORY'] ?? '';

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  try {
    writeFileSync(file, String(heapUsed + external));
  } catch {
    // No descriptor or no room just now: the request goes unanswered, and the host must not die of the question.
  }
});
