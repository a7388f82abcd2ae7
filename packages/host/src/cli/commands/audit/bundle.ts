/** audit bundle and audit open: one call or session as a signed file, for a bug report or a review elsewhere. */
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { StoredRecord } from '@tool-runtime/sdk';
import type { AuditBundle, OpenedBundle } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine, showError } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';

const MAX_FILE_BYTES = 256 * 1024 * 1024;

interface BundleOptions extends SharedOptions {
  readonly out?: string;
}

export function addBundle(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('bundle')
      .description('Pack one call or session into a signed file: records, registry, redacted arguments, artifacts'),
  )
    .argument('<id>', 'call id or session id')
    .option('--out <file>', 'where to write it (default: audit-<id>.bundle here); an existing file is not replaced')
    .action(async (id: string, { out, workspace, registry, json, ...options }: BundleOptions) => {
      const [{ packBundle }, { stateOf }] = await Promise.all([
        import('@tool-runtime/sdk/parts'),
        import('../../state-of.ts'),
      ]);
      const state = stateOf({ workspace, ...options });
      const file = out ?? `audit-${id}.bundle`;
      done(
        reportingErrors(() => {
          const packed = packBundle({ id, workspace, state, ...(registry === undefined ? {} : { registry }) });
          named(file, () => writeFileSync(file, packed.bytes, { flag: 'wx', mode: 0o600 }));
          if (json === true) printJson({ file, bytes: packed.bytes.length, ...factsOf(packed) }, { compact: true });
          else showPacked(file, packed);
        }),
      );
    });
}

function showPacked(file: string, { bundle, bytes, signedBy }: OpenedBundle & { readonly bytes: Buffer }): void {
  printLine(`${paint('green', 'written')} ${plainText(file)}: ${describe(bundle)}, ${bytes.length} bytes`);
  printLine(`signed by ${signedBy}`);
  printLine(paint('dim', 'Tell the receiver this fingerprint another way; tool-runtime audit open --key checks it.'));
}

/** The exit code. */
function reportingErrors(work: () => void): 0 | 1 {
  try {
    work();
    return 0;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const { next } = thrown.details;
    showError(thrown.message, typeof next === 'string' ? next : '');
    return 1;
  }
}

interface OpenOptions {
  readonly key?: string;
  readonly json?: boolean;
}

export function addOpen(command: Command, done: Done): void {
  command
    .command('open')
    .description('Check the signature of a bundle and show what is in it; needs no state folder')
    .argument('<file>', 'what audit bundle wrote')
    .option('--key <fingerprint>', 'fail unless it was signed by this key')
    .option('--json', 'the whole content as JSON')
    .action(async (file: string, { key, json }: OpenOptions) => {
      const [{ openBundle }, { describeRecord }] = await Promise.all([
        import('@tool-runtime/sdk/parts'),
        import('../../record-line.ts'),
      ]);
      done(
        reportingErrors(() => {
          const opened = openBundle(named(file, () => readBounded(file)));
          if (key !== undefined && key !== opened.signedBy) throw otherKey(opened.signedBy);
          if (json === true) printJson({ ...opened.bundle, signed_by: opened.signedBy }, { compact: true });
          else show(opened, describeRecord, key !== undefined);
        }),
      );
    });
}

function readBounded(file: string): Buffer {
  const fd = openSync(file, 'r');
  try {
    if (fstatSync(fd).size > MAX_FILE_BYTES) throw tooLarge(file);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function show(
  { bundle, signedBy }: OpenedBundle,
  describeRecord: (record: StoredRecord) => string,
  isKnownKey: boolean,
): void {
  printLine(`${paint('green', 'ok')} ${describe(bundle)}, made ${bundle.made_at}`);
  printLine(
    `signed by ${signedBy}${isKnownKey ? '' : paint('dim', ' (give --key to check that it is the one you expect)')}`,
  );
  printLine(`journal head ${bundle.head.seq}:${bundle.head.mac}`);
  for (const record of bundle.records) printLine(plainText(lineOf(record, describeRecord)));
  if (bundle.registry === null) printLine('registry: none, the safe defaults');
  else {
    const { file, text, is_the_sessions: isSame } = bundle.registry;
    const since =
      isSame === null ? '' : isSame ? ', as the session ran under it' : ', changed since the session was opened';
    printLine(`registry ${plainText(file)}${since}:`);
    for (const line of text.trimEnd().split('\n')) printLine(`  ${plainText(line)}`);
  }
  for (const { handle, bytes, left_out: why } of bundle.artifacts) {
    printLine(`${handle} ${why === undefined ? `${bytes} bytes` : `not included: ${why.replace('_', ' ')}`}`);
  }
}

/** The file is foreign: a record that is not what its kind says is shown as it is. */
function lineOf(record: StoredRecord, describeRecord: (record: StoredRecord) => string): string {
  try {
    return describeRecord(record);
  } catch {
    return JSON.stringify(record);
  }
}

function factsOf({ bundle, signedBy }: OpenedBundle) {
  return {
    about: bundle.about,
    records: bundle.records.length,
    artifacts: bundle.artifacts.length,
    signed_by: signedBy,
  };
}

function describe({ about, records, artifacts }: AuditBundle): string {
  const what = 'call_id' in about ? `call ${about.call_id}` : `session ${about.session_id}`;
  return `${what}, ${records.length} records, ${artifacts.length} artifacts`;
}

/** What goes wrong with a file that a person named is not a fault of the program. */
function named<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (isToolError(cause) || typeof code !== 'string') throw cause;
    const next = code === 'EEXIST' ? 'give another name with --out, or remove the file' : 'check the path';
    throw new ToolError('E_FILE_IO', `File cannot be used: ${file} (${code})`, {
      path: file,
      details: { reason: code, next },
      cause,
    });
  }
}

function otherKey(signedBy: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Bundle was signed by another key: ${signedBy}`, {
    details: { reason: 'other_key', next: 'compare the fingerprint with the one the sender told you' },
  });
}

function tooLarge(file: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `File is larger than ${MAX_FILE_BYTES} bytes: ${file}`, {
    details: { reason: 'too_large', next: 'name a file that tool-runtime audit bundle wrote' },
  });
}
