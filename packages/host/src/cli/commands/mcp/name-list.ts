/** An option that holds names with commas between them. */
import { badUsage } from '../../../terminal/bad-usage.ts';

export function nameList(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw badUsage(`A list of names is empty: ${text}`, 'write names with commas between them');
  return names;
}
