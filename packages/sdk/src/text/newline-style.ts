/** How the lines of a text end. */

export const NEWLINE_STYLES = ['lf', 'crlf', 'cr', 'mixed', 'none'] as const;
export type NewlineStyle = (typeof NEWLINE_STYLES)[number];

export function newlineStyle(text: string): NewlineStyle {
  if (!text.includes('\r')) return text.includes('\n') ? 'lf' : 'none';
  const hasReturns = /\r(?!\n)/.test(text);
  const hasPairs = text.includes('\r\n');
  const hasFeeds = /(?<!\r)\n/.test(text);
  if (Number(hasReturns) + Number(hasPairs) + Number(hasFeeds) > 1) return 'mixed';
  if (hasPairs) return 'crlf';
  return hasFeeds ? 'lf' : 'cr';
}
