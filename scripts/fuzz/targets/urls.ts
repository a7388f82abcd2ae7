/** URLs and the egress allowlist: what is judged allowed is exactly what would be dialled. */
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { Request } from 'undici';
import { addressBytes, isPublicAddress } from '../../../packages/sdk/src/egress/judge-address.ts';
import { type JudgedUrl, judgeRedirect, judgeUrl } from '../../../packages/sdk/src/egress/judge-url.ts';
import { readDomain } from '../../../packages/sdk/src/registry/texts.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { joinParts, splitParts } from '../input-parts.ts';

const HOSTS = [
  'crates.io',
  'a.example.org',
  'evil.test',
  '127.0.0.1',
  '[::1]',
  'xn--bcher-kva.example',
  'localhost',
  '10.0.0.1',
];
const ENTRIES = ['crates.io', '*.example.org', 'api.test:8443', '127.0.0.1', '[::1]:80', '.b.test', 'bücher.example'];
const PIECES = [
  '@',
  ':',
  '/',
  '\\',
  '?',
  '#',
  '.',
  '..',
  '%2e',
  '%00',
  '\t',
  '\n',
  ' ',
  '127.1',
  '0x7f',
  '[',
  ']',
  '::1',
].concat([
  '443',
  '8443',
  '0',
  'http:',
  'https:',
  '//',
  '\u00ad',
  '。',
  'ß',
  'ı',
  '*',
  '&',
  ';',
  '%',
  'xn--',
  '１２７',
  '::ffff:',
  '0177',
  '-',
  '_',
]);

const piece = fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...HOSTS), fc.constantFrom(...ENTRIES));
const url = fc.oneof(
  fc
    .tuple(fc.constantFrom('https://', 'http://', 'https:', '//', 'HTTP://'), fc.array(piece, { maxLength: 6 }))
    .map(([scheme, rest]) => scheme + rest.join('')),
  fc
    .tuple(fc.constantFrom(...HOSTS), fc.webPath(), fc.nat({ max: 65_536 }))
    .map(([host, path, port]) => `http://${host}:${port}${path}`),
  fc.webUrl(),
);

/** Where a redirect goes, or an address as a resolver might give it. */
const target = fc.oneof(
  url,
  fc.ipV4(),
  fc.ipV6(),
  fc
    .tuple(
      fc.array(fc.constantFrom('0', '1', 'ffff', '7f00', 'FE80', '12345', 'g', ''), { maxLength: 9 }),
      fc.nat({ max: 9 }),
    )
    .map(([groups, at]) =>
      [...groups.slice(0, at), ...(at < groups.length ? [''] : []), ...groups.slice(at)].join(':'),
    ),
);

export const urls: FuzzTarget = {
  name: 'urls',
  holds: 'no URL is allowed whose host, as fetch would dial it, is outside the allowlist',
  maxBytes: 16 * 1024,
  tokens: [...PIECES, ...HOSTS, ...ENTRIES, '\n%%\n', 'https://'],
  inputs: fc
    .tuple(url, fc.array(fc.constantFrom(...ENTRIES), { maxLength: 4 }), target)
    .map(([raw, entries, other]) => joinParts(raw, entries.join('\n'), other)),
  open: () => ({
    check(input) {
      const [raw = '', list = '', location = ''] = splitParts(input, 3).map(String);
      const allowed = entriesOf(list);
      checkAddress(location);
      const first = judge(() => judgeUrl(raw, allowed), allowed);
      if (typeof first === 'string') return first;
      assert.equal(first.url.href, redialled(raw), 'it would dial something else than the text says');
      const second = judge(() => judgeRedirect(location, first.url, allowed), allowed);
      if (typeof second === 'string') return `allowed, redirect ${second}`;
      assert.equal(second.url.href, redialled(new URL(location, first.url).href));
      return 'allowed, redirect allowed';
    },
    measure(input) {
      const [raw = '', list = ''] = splitParts(input, 3).map(String);
      judge(() => judgeUrl(raw, entriesOf(list)), []);
    },
  }),
};

/** As the registry keeps them; what it would refuse is left out. */
function entriesOf(list: string): readonly string[] {
  return list
    .split('\n')
    .slice(0, 20)
    .map(readDomain)
    .flatMap((reading) => ('entry' in reading ? [reading.entry] : []));
}

function judge(work: () => JudgedUrl, allowed: readonly string[]): JudgedUrl | string {
  let judged: JudgedUrl;
  try {
    judged = work();
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_POLICY', `not a refusal: ${String(thrown)}`);
    return String(thrown.details['reason']);
  }
  // A list that was not asked for is one of a measurement.
  if (allowed.length === 0) return 'allowed';
  checkAllowed(judged, allowed);
  return judged;
}

/** The address a client of fetch would contact, worked out without our code. */
function checkAllowed({ url: judged, host, port, entry }: JudgedUrl, allowed: readonly string[]): void {
  const dialled = new URL(new Request(judged).url);
  const dialledPort = Number(dialled.port || (dialled.protocol === 'https:' ? 443 : 80));
  assert.ok(allowed.includes(entry));
  assert.ok(dialled.protocol === 'http:' || dialled.protocol === 'https:');
  assert.deepEqual([dialled.hostname, dialledPort], [host, port]);
  assert.equal(dialled.username + dialled.password, '');
  assert.ok(
    allowed.some((one) => covers(one, dialled.hostname, dialledPort)),
    `dials another host: ${dialled.host}`,
  );
}

function covers(entry: string, host: string, port: number): boolean {
  const colon = /:(\d+)$/.exec(entry.endsWith(']') ? '' : entry);
  const name = colon === null ? entry : entry.slice(0, colon.index);
  const isPort = colon === null ? port === 80 || port === 443 : port === Number(colon[1]);
  const isBelow = name.startsWith('*.') && host.endsWith(name.slice(1)) && host.length > name.length - 1;
  return isPort && (host === name || (isBelow && isIP(host) === 0));
}

function redialled(raw: string): string {
  const plain = new URL(raw);
  plain.hostname = plain.hostname.replace(/\.$/, '');
  return plain.href;
}

/** Ours and Node's reading of an address agree, and nothing that only the machine itself can reach counts as public. */
function checkAddress(text: string): void {
  const bytes = addressBytes(text);
  const kind = text.includes('%') ? 0 : isIP(text);
  assert.equal(bytes?.length ?? 0, kind === 4 ? 4 : kind === 6 ? 16 : 0, `read otherwise: ${text} as ${String(bytes)}`);
  if (bytes === undefined) {
    assert.equal(isPublicAddress(text), false);
    return;
  }
  if (kind !== 4) return;
  const [first = 0, second = 0] = bytes;
  const isInside = first === 0 || first === 10 || first === 127 || first >= 224 || (first === 192 && second === 168);
  if (isInside) assert.equal(isPublicAddress(text), false, `not public: ${text}`);
}
