/** The report as one JSON value on one line, with the counts a script would otherwise compute. */
import { plainJson } from '../../terminal/plain-text.ts';
import type { Reporter } from './report.ts';
import { countLevels } from './report-counts.ts';

export const json: Reporter = {
  name: 'json',
  render(report) {
    const counts = countLevels(report);
    return `${plainJson(JSON.stringify({ ok: counts.blocking === 0, counts, ...report }))}\n`;
  },
};
