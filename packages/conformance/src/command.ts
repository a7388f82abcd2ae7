/** The command: `npx @tool-runtime/conformance --mcp "<command>"`. Exits with 0, 1 if a case failed, 2 for wrong usage. */
import { accessSync, constants, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Case } from './cases/case.ts';
import { loadProfile, ProfileProblem, recogniseProfile, SHIPPED, shippedNames } from './profile/load-profile.ts';
import { type Profile, profileSchema } from './profile/profile.ts';
import { badge, resultLine, summaryLine } from './report.ts';
import { CASES, runSuite } from './run-suite.ts';
import { Scene, type Target } from './scene/scene.ts';
import { ServerGone } from './server/line-process.ts';
import type { Protocol } from './server/server.ts';

const HELP = `Usage: tool-runtime-conformance (--mcp COMMAND | --envelopes COMMAND | --profile NAME) [options]

Runs the conformance suite for tool runtimes against a server. The server gets a scratch workspace as its working folder
and, where its command says so, as {workspace}; {state} and {setup} are further scratch folders.

  --mcp COMMAND          command that starts an MCP server on standard streams
  --envelopes COMMAND    command that starts a program that speaks envelopes
  --profile NAME|FILE    how to use its tools: a JSON file, or one of
                         ${shippedNames()}
                         (by default the one whose tools an MCP server has)
  --define NAME=VALUE    fills {NAME} in commands; may be repeated
  --scratch DIR          folder for the scratch folders (by default the one for temporary files); choose another
                         if the server may use that one anyway
  --only TEXT            only cases whose id contains TEXT; may be repeated
  --json FILE            writes the results as JSON, - for standard output instead of the table
  --badge FILE           writes a badge as SVG
  --list                 prints the cases and what each tries, and ends
  --show-profile NAME    prints a shipped profile as JSON, to start your own from, and ends
  --help, --version

Exit codes: 0 every case that applies passed, 1 a case failed, 2 wrong usage, or a server that cannot be used.
`;

interface Options {
  readonly mcp?: string;
  readonly envelopes?: string;
  readonly profile?: string;
  readonly define?: string[];
  readonly only?: string[];
  readonly json?: string;
  readonly scratch?: string;
  readonly badge?: string;
  readonly list?: boolean;
  readonly 'show-profile'?: string;
  readonly help?: boolean;
  readonly version?: boolean;
}

function readOptions(args: readonly string[]): Options {
  const [text, texts, flag] = [{ type: 'string' }, { type: 'string', multiple: true }, { type: 'boolean' }] as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{
        mcp: text,
        envelopes: text,
        profile: text,
        define: texts,
        only: texts,
        json: text,
        badge: text,
        scratch: text,
      },
      ...{ list: flag, 'show-profile': text, help: { ...flag, short: 'h' }, version: { ...flag, short: 'V' } },
    },
  });
  return values;
}

class WrongUsage extends Error {}

/** `version` is that of the package, which the program knows that starts this. */
export async function main(args: readonly string[], version: string): Promise<number> {
  try {
    const values = readOptions(args);
    return printFacts(values, version) ? 0 : await runAndReport(values);
  } catch (cause) {
    if (!isUsage(cause)) throw cause;
    process.stderr.write(`${cause.message}\n`);
    return 2;
  }
}

function isUsage(cause: unknown): cause is Error {
  if (cause instanceof WrongUsage || cause instanceof ProfileProblem || cause instanceof ServerGone) return true;
  return cause instanceof TypeError && 'code' in cause && String(cause.code).startsWith('ERR_PARSE_ARGS');
}

/** What is printed without a server. */
function printFacts(values: Options, version: string): boolean {
  if (values.help === true) process.stdout.write(HELP);
  else if (values.version === true) process.stdout.write(`${version}\n`);
  else if (values.list === true) process.stdout.write(CASES.map(describeCase).join('\n'));
  else if (values['show-profile'] !== undefined) process.stdout.write(profileText(loadProfile(values['show-profile'])));
  else return false;
  return true;
}

function describeCase({ id, needs, tries, wrong, why }: Case): string {
  return `${id}  (${needs.join(', ')})\n  tries  ${tries}\n  wrong  ${wrong}\n  why    ${why}\n`;
}

/** Without what has its default anyway. */
function profileText(profile: Profile): string {
  const defaults = profileSchema.parse({ name: profile.name, tools: {} });
  const own = Object.entries(profile).filter(
    ([key, value]) => key === 'name' || JSON.stringify(value) !== JSON.stringify(defaults[key as keyof Profile]),
  );
  return `${JSON.stringify(Object.fromEntries(own), null, 2)}\n`;
}

/** Before a run that takes minutes, whose results would be lost. */
function requireFolders({ json, badge, scratch }: Options): void {
  const folderOf = (file: string | undefined) => (file === undefined ? undefined : path.dirname(path.resolve(file)));
  const wanted = {
    '--json': folderOf(json === '-' ? undefined : json),
    '--badge': folderOf(badge),
    '--scratch': scratch,
  };
  for (const [option, folder] of Object.entries(wanted)) {
    try {
      if (folder !== undefined) accessSync(`${folder}/`, constants.W_OK);
    } catch {
      throw new WrongUsage(`${option}: folder is missing or cannot be written: ${folder}`);
    }
  }
}

async function runAndReport(values: Options): Promise<number> {
  requireFolders(values);
  const target = await targetOf(values);
  const cases = choose(values.only ?? []);
  const toStdout = values.json === '-';
  if (!toStdout) process.stdout.write(`${target.command}\nprofile: ${target.profile.name}\n\n`);
  const result = await runSuite(target, {
    cases,
    report: (one) => void (toStdout || process.stdout.write(`${resultLine(one)}\n`)),
  });
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if (toStdout) process.stdout.write(text);
  else process.stdout.write(`\n${summaryLine(result)}\n`);
  if (values.json !== undefined && !toStdout) writeFileSync(values.json, text);
  if (values.badge !== undefined) writeFileSync(values.badge, badge(result));
  if (result.passed + result.failed === 0) throw new WrongUsage('No case applies: the profile maps too little');
  return result.failed === 0 ? 0 : 1;
}

function choose(only: readonly string[]): readonly Case[] {
  const chosen = only.length === 0 ? CASES : CASES.filter(({ id }) => only.some((text) => id.includes(text)));
  if (chosen.length === 0) throw new WrongUsage(`No case contains ${only.join(' or ')}; --list prints them`);
  return chosen;
}

async function targetOf(values: Options): Promise<Target> {
  if (values.mcp !== undefined && values.envelopes !== undefined) {
    throw new WrongUsage('Give either --mcp or --envelopes, not both');
  }
  const variables = Object.fromEntries((values.define ?? []).map(definition));
  const named = values.profile === undefined ? undefined : loadProfile(values.profile);
  const protocol: Protocol =
    (values.envelopes ?? (values.mcp === undefined ? named?.start.envelopes : undefined)) === undefined
      ? 'mcp'
      : 'envelopes';
  const command = values.mcp ?? values.envelopes ?? named?.start[protocol];
  if (command === undefined)
    throw new WrongUsage(`Nothing to run: give --mcp, --envelopes or a profile with start\n\n${HELP}`);
  const scratch = values.scratch === undefined ? {} : { scratch: values.scratch };
  const profile =
    named ?? (protocol === 'mcp' ? await recognise({ command, variables, ...scratch }) : envelopeProfile());
  return { protocol, command, profile, variables, ...scratch };
}

function definition(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new WrongUsage(`--define needs NAME=VALUE, not ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Starts the server once to see which tools it has. */
async function recognise(how: Pick<Target, 'command' | 'variables' | 'scratch'>): Promise<Profile> {
  const unmapped = profileSchema.parse({ name: 'unknown', tools: {} });
  const scene = new Scene({ protocol: 'mcp', profile: unmapped, ...how });
  try {
    return recogniseProfile((await scene.server()).tools);
  } finally {
    await scene.remove();
  }
}

/** Envelopes have no list of tools, so the first shipped profile for them is taken. */
function envelopeProfile(): Profile {
  const profile = SHIPPED.find(({ start }) => start.envelopes !== undefined);
  if (profile === undefined) throw new WrongUsage('Give --profile');
  return profile;
}
