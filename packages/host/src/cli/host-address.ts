/** `HOST:PORT` of `--http`, or `none`. */
import { badUsage } from '../terminal/bad-usage.ts';

export interface HttpAddress {
  readonly hostname: string;
  readonly port: number;
}

const FORM = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/;

export function parseHttpAddress(text: string): HttpAddress | undefined {
  if (text === 'none') return undefined;
  const [, ipv6, name, digits] = FORM.exec(text) ?? [];
  const port = Number(digits);
  const hostname = ipv6 ?? name;
  if (hostname === undefined || port > 65_535) throw badUsage(`--http wants HOST:PORT or none, not: ${text}`);
  return { hostname, port };
}
