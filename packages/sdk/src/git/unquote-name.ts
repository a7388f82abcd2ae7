/** A file name as git writes it in patches and blame: plain, or in quotes with C escapes when it has odd bytes. */

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

export function unquoteName(written: string): string {
  const inside = /^"(.*)"$/s.exec(written)?.[1];
  if (inside === undefined) return written;
  const bytes: Buffer[] = [];
  for (const [, octal, letter, plain] of inside.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8)]));
    else if (letter !== undefined) bytes.push(Buffer.from([ESCAPES[letter] ?? letter.charCodeAt(0)]));
    else bytes.push(Buffer.from(plain ?? ''));
  }
  return Buffer.concat(bytes).toString('utf8');
}
