/**
 * `npm run bench -- conformance`: the conformance suite for tool runtimes against this project and its peers. Peers are
 * installed from npm into a scratch folder; one that does not install is listed with the reason. Stores the results,
 * and writes docs/conformance.md and a badge from them, as they came out.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadProfile } from '../packages/conformance/src/profile/load-profile.ts';
import { badge, resultLine, summaryLine } from '../packages/conformance/src/report.ts';
import { runSuite, type SuiteResult } from '../packages/conformance/src/run-suite.ts';
import type { Protocol } from '../packages/conformance/src/server/server.ts';
import { ensureBuilt } from '../packages/host/test/ensure-built.ts';
import { conformancePage, STORED_RESULTS, type StoredResult } from '../scripts/docs/conformance-page.ts';

export const CONFORMANCE = 'conformance';
export const CONFORMANCE_SUMMARY = 'the conformance suite against this project and its peers; measures nothing';

const ROOT = join(import.meta.dirname, '..');
/** Not in the folder for temporary files: some servers may use that one in any event. */
const SCRATCH = '/var/tmp';

interface Peer {
  readonly profile: string;
  readonly package: string;
  readonly version: string;
  /** File that is started, in the package. */
  readonly file: string;
  /** Dependencies that npm must take in another version than the peer asks for, because that one does not exist. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** What a reader of the results should know. */
  readonly note?: string;
}

const PEERS: readonly Peer[] = [
  {
    profile: 'server-filesystem',
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    file: 'dist/index.js',
  },
  {
    profile: 'desktop-commander',
    package: '@wonderwhy-er/desktop-commander',
    version: '0.2.52',
    file: 'dist/index.js',
    overrides: { 'typedarray.prototype.slice': '1.0.5' },
    note: 'its allowedDirectories limit file tools, not commands',
  },
  { profile: 'fast-filesystem-mcp', package: 'fast-filesystem-mcp', version: '3.5.2', file: 'dist/index.js' },
  {
    profile: 'filesystem-mcp',
    package: 'filesystem-mcp',
    version: '1.3.0',
    file: 'dist/main.js',
    note: 'has no setting that limits it to a folder',
  },
  {
    profile: 'mcp-server-commands',
    package: 'mcp-server-commands',
    version: '0.5.0',
    file: 'build/index.js',
    note: 'has no setting that limits it to a folder',
  },
];

export async function runConformance(): Promise<number> {
  ensureBuilt();
  const stored: StoredResult[] = [];
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  const ours = join(ROOT, 'packages/host/bin/tool-runtime.js');
  for (const [profile, protocol] of [
    ['tool-runtime-mcp', 'mcp'],
    ['tool-runtime-envelopes', 'envelopes'],
  ] as const) {
    const result = await tryServer(profile, ours, protocol);
    stored.push(storedOf(result, version));
    if (protocol === 'envelopes') writeDocsFile('docs/conformance/badge.svg', badge(result));
  }
  for (const peer of PEERS) stored.push(await tryPeer(peer));
  writeDocsFile(STORED_RESULTS, `${JSON.stringify(stored, null, 2)}\n`);
  writeDocsFile('docs/conformance.md', conformancePage(stored));
  return 0;
}

async function tryPeer(peer: Peer): Promise<StoredResult> {
  const folder = mkdtempSync(join(SCRATCH, 'conformance-peer-'));
  try {
    const problem = install(peer, folder);
    const replaced = Object.entries(peer.overrides ?? {}).map(([name, version]) => `installed with ${name} ${version}`);
    const notes = [...replaced, ...(peer.note === undefined ? [] : [peer.note])];
    if (problem !== undefined) {
      console.log(`${peer.package}: ${problem}`);
      return { server: peer.package, version: peer.version, at: today(), note: problem, results: [] };
    }
    const file = join(folder, 'node_modules', peer.package, peer.file);
    const result = storedOf(await tryServer(peer.profile, file, 'mcp'), peer.version);
    return notes.length === 0 ? result : { ...result, note: notes.join('; ') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined if it worked. Scripts of the packages are not run. */
function install({ package: name, version, overrides = {} }: Peer, folder: string): string | undefined {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }));
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  const reason = /^npm error (?:notarget )?(?!code)(.+)$/m.exec(stderr)?.[1] ?? 'no reason given';
  return status === 0 ? undefined : `did not install: ${reason}`;
}

async function tryServer(profileName: string, file: string, protocol: Protocol): Promise<SuiteResult> {
  const profile = loadProfile(profileName);
  console.log(`\n== ${profileName}`);
  const variables = { program: `"${process.execPath}" "${file}"` };
  const command = profile.start[protocol] ?? '';
  const result = await runSuite(
    { protocol, command, profile, variables, scratch: SCRATCH },
    { report: (one) => console.log(resultLine(one)) },
  );
  console.log(summaryLine(result));
  return result;
}

function storedOf({ server, results }: SuiteResult, version: string): StoredResult {
  const summary = loadProfile(server).summary;
  // The names of scratch folders and processes differ from run to run.
  const steady = (text: string): string =>
    text.replaceAll(/\/var\/tmp\/conformance-\w+/g, '…').replaceAll(/Process \d+/g, 'A process');
  return {
    server: summary,
    version,
    at: today(),
    results: results.map((result) =>
      result.detail === undefined ? result : { ...result, detail: steady(result.detail) },
    ),
  };
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function writeDocsFile(name: string, text: string): void {
  const file = join(ROOT, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}
