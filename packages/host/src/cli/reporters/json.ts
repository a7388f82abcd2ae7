/** The report as one JSON value on one line, with the counts a script would otherwise compute. */
import { plainJson } from '../../terminal/terminal.ts';
import { countLevels, type Reporter } from './report.ts';

export const json: Reporter = {
  name: 'json',
  render(report) {
    const counts = countLevels(report);
    return `${plainJson(JSON.stringify({ ok: counts.blocking === 0, counts, ...report }))}\n`;
  },
};
