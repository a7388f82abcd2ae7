/**
 * Every value of a header, in order, from Node's `rawHeaders` (names and values by turns).
 *
 * Node's `headers` keeps only the first of some and joins others with commas; two of what must be one is then no longer
 * seen.
 */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [key = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]];
    if (key.length === name.length && key.toLowerCase() === name) values.push(value);
  }
  return values;
}
