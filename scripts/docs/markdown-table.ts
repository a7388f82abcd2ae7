/** A Markdown table; bars inside cells are escaped, empty cells show a dash. */

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

function cell(text: string): string {
  return text === '' ? '–' : text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
