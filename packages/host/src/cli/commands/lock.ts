/** tool-runtime lock: pins the external tools of the registry by digest, as they are on this machine now. */
import type { LockChange, LockMetadata, LockReport } from '@tool-runtime/sdk';
import type { Command } from 'commander';
import { badUsage } from '../../terminal/bad-usage.ts';
import { paint, plainText, printJson, printLine, showWarning } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { withRuntime } from '../open-runtime.ts';

interface LockOptions extends SharedOptions {
  readonly check?: boolean;
  readonly source?: string;
  readonly commit?: string;
  readonly url?: string;
  readonly signerIssuer?: string;
  readonly signerSubject?: string;
  readonly signerRepository?: string;
  readonly signerRef?: string;
  readonly resolvedRegistry?: string;
  readonly resolvedDescriptor?: string;
}

export const lock = defineCommand({
  name: 'lock',
  summary: 'Pin the external tools of the registry by digest in tool-runtime.lock',
  configure(command, done) {
    withMetadataOptions(withSharedOptions(command))
      .argument('[tools...]', 'names (default: every tool the registry lists)')
      .option('--check', 'write nothing; exit 1 if a tool differs from the lock or is missing there')
      .action(async (names: string[], options: LockOptions) => {
        const metadata = metadataOf(names, options);
        const report = await withInterrupt((signal) => makeReport({ names, options, metadata, signal }));
        if (options.json === true) printJson(toRecord(report, options), { compact: true });
        else printReport(report, options);
        done(options.check === true && report.changes.some(({ change }) => change !== 'unchanged') ? 1 : 0);
      });
  },
});

function withMetadataOptions(command: Command): Command {
  return command
    .option(
      '--source <source>',
      'where the tool comes from, such as owner/name@v1; needs exactly one tool, like the options below',
    )
    .option('--commit <commit>', 'commit it was built from')
    .option('--url <url>', 'address the program was downloaded from')
    .option('--signer-issuer <issuer>', 'who vouches for the signer; recorded, not verified')
    .option('--signer-subject <subject>', 'the signer')
    .option('--signer-repository <uri>', 'repository the signer built from; must be the source')
    .option('--signer-ref <ref>', 'ref of that repository')
    .option('--resolved-registry <registry>', 'registry the source was looked up in')
    .option('--resolved-descriptor <descriptor>', 'what the registry answered');
}

interface LockOrder {
  readonly names: readonly string[];
  readonly options: LockOptions;
  readonly metadata: Readonly<Record<string, LockMetadata>>;
  readonly signal: AbortSignal;
}

async function makeReport({ names, options, metadata, signal }: LockOrder): Promise<LockReport> {
  const { lockExternalTools } = await import('@tool-runtime/sdk');
  const { workspace, state, registry: registryFile, check = false } = options;
  return withRuntime(options, ({ registry }) =>
    lockExternalTools({
      workspace,
      registry,
      metadata,
      check,
      signal,
      ...(names.length === 0 ? {} : { tools: names }),
      ...(state === undefined ? {} : { state }),
      ...(registryFile === undefined ? {} : { registryFile }),
    }),
  );
}

/** By tool; empty when nothing was said. */
function metadataOf(names: readonly string[], options: LockOptions): Readonly<Record<string, LockMetadata>> {
  const signer = said({
    issuer: options.signerIssuer,
    subject: options.signerSubject,
    source_repository_uri: options.signerRepository,
    source_repository_ref: options.signerRef,
  });
  const resolved = said({ registry: options.resolvedRegistry, descriptor: options.resolvedDescriptor });
  const { source, commit, url } = options;
  const metadata = said({ source, commit, url, signer, resolved_from: resolved });
  if (metadata === undefined) return {};
  const [name] = names;
  if (name !== undefined && names.length === 1) return { [name]: metadata };
  throw badUsage(
    'Source, commit, address and signer belong to one tool',
    'name exactly one: tool-runtime lock <tool> …',
  );
}

type Said<Fields> = { readonly [Name in keyof Fields]?: NonNullable<Fields[Name]> };

/** Undefined when none is filled. */
function said<Fields extends object>(fields: Fields): Said<Fields> | undefined {
  const filled = Object.entries(fields).filter(([, value]) => value !== undefined);
  return filled.length === 0 ? undefined : (Object.fromEntries(filled) as Said<Fields>);
}

function toRecord({ path, sha256, changes, isTrusted }: LockReport, { check = false }: LockOptions): object {
  return { lock: path, ...(check ? {} : { sha256 }), check, is_trusted: isTrusted, tools: changes };
}

function printReport({ path, changes, isTrusted }: LockReport, { check = false }: LockOptions): void {
  for (const change of changes) printLine(describe(change));
  if (changes.length === 0) printLine('the registry lists no external tools');
  else printLine(`lock: ${plainText(path)}`);
  if (check && !isTrusted && changes.length > 0) {
    showWarning('The lock has no effect: it is missing or not trusted (run tool-runtime lock or tool-runtime trust)');
  }
}

const COLOURS = { new: 'green', unchanged: 'dim', changed: 'yellow', not_found: 'red' } as const;

function describe(found: LockChange): string {
  const { tool, platform, digest, change } = found;
  const what = paint(COLOURS[change], wordsFor(found));
  return [plainText(tool), platform, digest, what].filter((part) => part !== '').join('  ');
}

function wordsFor({ change, before, digest, fields }: LockChange): string {
  if (change === 'not_found') return 'program not found';
  if (change !== 'changed') return change;
  return before === digest ? `changed (${fields.join(', ')})` : `changed from ${before}`;
}
