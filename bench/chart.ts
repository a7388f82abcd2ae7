/** A table as a picture: one bar for each row on a logarithmic scale, peers in another colour. Plain SVG, no script. */
import type { Table, TableRow } from './table.ts';

const ROW_HEIGHT = 22;
const LABEL_WIDTH = 360;
const BAR_WIDTH = 420;
const VALUE_WIDTH = 120;
const TITLE_HEIGHT = 34;
const OURS = '#2f6f4f';
const PEER = '#9aa0a6';

export function chartOf(title: string, tables: readonly Table[]): string {
  const parts: string[] = [];
  let top = TITLE_HEIGHT;
  for (const table of tables) {
    parts.push(text(0, top + 16, table.title, 'bold'));
    top += ROW_HEIGHT + 6;
    for (const row of table.rows) {
      parts.push(bar(row, table, top));
      top += ROW_HEIGHT;
    }
    top += 14;
  }
  const width = LABEL_WIDTH + BAR_WIDTH + VALUE_WIDTH;
  const caption = `${title}: logarithmic, time is the median; grey: what it is compared with`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" ` +
      'font-family="system-ui, sans-serif" font-size="13">',
    `<title>${escaped(caption)}</title>`,
    `<rect width="${width}" height="${top}" fill="#ffffff"/>`,
    text(0, 18, caption, 'bold'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function bar(row: TableRow, { rows, peers, counts }: Table, top: number): string {
  const colour = peers.includes(row.name) ? PEER : OURS;
  const length = lengthOf(row.medianMicros, rows);
  return [
    text(LABEL_WIDTH - 8, top + 15, row.name, 'normal', 'end'),
    `<rect x="${LABEL_WIDTH}" y="${top + 3}" width="${length.toFixed(1)}" height="${ROW_HEIGHT - 6}" fill="${colour}"/>`,
    text(
      LABEL_WIDTH + length + 6,
      top + 15,
      counts === undefined ? shown(row.medianMicros) : `${row.medianMicros} ${counts}`,
    ),
  ].join('');
}

/** The smallest row still has a bar, the largest fills the width. */
function lengthOf(micros: number, rows: readonly TableRow[]): number {
  const all = rows.map(({ medianMicros }) => Math.log10(Math.max(medianMicros, 1e-3)));
  const [least, most] = [Math.min(...all) - 0.3, Math.max(...all)];
  return ((Math.log10(Math.max(micros, 1e-3)) - least) / Math.max(most - least, 1e-9)) * BAR_WIDTH;
}

function shown(micros: number): string {
  if (micros < 1000) return `${micros.toFixed(micros < 10 ? 2 : 0)} µs`;
  return micros < 1e6 ? `${(micros / 1000).toFixed(1)} ms` : `${(micros / 1e6).toFixed(2)} s`;
}

function text(x: number, y: number, content: string, weight = 'normal', anchor = 'start'): string {
  return `<text x="${x.toFixed(1)}" y="${y}" font-weight="${weight}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
