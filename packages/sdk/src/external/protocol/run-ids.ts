/**
 * Ids of runs: the time to the microsecond and a counter, 34 characters that sort by time.
 *
 * Within one generator every id is greater than the one before, also when the clock steps back: it then counts on from
 * the last time. Between processes only the folder made under the id decides; see the platform's run folder.
 */
import { ToolError } from '@tool-runtime/protocol';
import { isExternalToolName } from '../../contracts/external.ts';

export interface RunIds {
  next(): string;
}

const MAX_COUNT = 999_999;
/** The first microsecond of the year 10000, where the form would grow by a digit. */
const END_OF_TIME = Date.UTC(10_000, 0, 1) * 1000;

/** `now` gives Unix milliseconds; a fraction counts, down to the microsecond. */
export function createRunIds(now: () => number): RunIds {
  let micros = -1;
  let count = 0;
  return {
    next() {
      const read = Math.floor(now() * 1000);
      if (read > micros) {
        micros = read;
        count = 0;
      } else if (count < MAX_COUNT) {
        count += 1;
      } else {
        micros += 1;
        count = 0;
      }
      return formatRunId(micros, count);
    },
  };
}

function formatRunId(micros: number, count: number): string {
  if (!(micros >= 0 && micros < END_OF_TIME)) {
    throw new ToolError('E_INTERNAL', 'The clock gives no usable time for a run id', {
      details: { reason: 'clock_out_of_range' },
    });
  }
  const second = new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19).replaceAll(':', '-');
  const fraction = String(micros % 1_000_000).padStart(6, '0');
  return `${second}-${fraction}Z-${String(count).padStart(6, '0')}`;
}

const SHOWN_CHARACTERS = 64;

/**
 * The name of an external tool: it is a wire name, a key of the lock file and a folder at once.
 *
 * Returns the name unchanged or throws E_VALIDATION_FAIL.
 */
export function checkToolName(name: string): string {
  if (isExternalToolName(name)) return name;
  const shown = name.slice(0, SHOWN_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
  throw new ToolError('E_VALIDATION_FAIL', `Name of an external tool is not valid: ${shown}`, {
    details: {
      reason: 'invalid_tool_name',
      next: 'Use up to 64 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit, without ".."',
    },
  });
}
