/**
 * One call or session as a file for another person: its records, the registry, and the artifacts it refers to.
 *
 * The chain of a journal can be checked only with its key, which stays in the state folder. So a bundle is signed: the key pair is
 * derived from the journal's key and is the same for every bundle of that folder. A reader who
 * knows the fingerprint of the public key from elsewhere can check that nothing was changed, and that two bundles come from
 * the same journal.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ChainHead, StoredRecord } from './contracts/journal.ts';
import { openJournalReader } from './journal/store/journal-reader.ts';
import { canonicalJson, purposeKey, sha256Hex } from './platform/digest.ts';
import { createArtifactFiles } from './platform/state/artifact-files.ts';
import { openEvidenceFolder } from './platform/state/evidence-folder.ts';
import { hostSecrets } from './redaction/host-secrets.ts';
import { createRedactor, type Redactor } from './redaction/redactor.ts';
import { type RegistrySearch, registryOnDisk } from './registry-on-disk.ts';

export interface BundledArtifact {
  readonly handle: string;
  readonly bytes: number;
  /** Base64, and the digest of what it decodes to; left out with a reason. */
  readonly content?: string;
  readonly sha256?: string;
  readonly left_out?: 'deleted' | 'too_large';
}

export interface AuditBundle {
  readonly format: typeof FORMAT;
  readonly version: 1;
  readonly made_at: string;
  readonly about: { readonly call_id: string } | { readonly session_id: string };
  readonly records: readonly StoredRecord[];
  readonly registry: {
    readonly file: string;
    /** Known secrets are masked. */
    readonly text: string;
    /** Whether the session ran under exactly this registry; null where its record is not in the journal any more. */
    readonly is_the_sessions: boolean | null;
  } | null;
  readonly artifacts: readonly BundledArtifact[];
  /** Of the verified journal the records were taken from. */
  readonly head: ChainHead;
}

export interface OpenedBundle {
  readonly bundle: AuditBundle;
  /** SHA-256 of the public key that signed it. */
  readonly signedBy: string;
}

export interface BundleRequest extends RegistrySearch {
  /** Id of a call or of a session. */
  readonly id: string;
  readonly now?: () => Date;
}

const FORMAT = 'tool-runtime audit bundle';
const MAX_ARTIFACT_BYTES = 16 * 1024 * 1024;
const MAX_BUNDLE_BYTES = 512 * 1024 * 1024;

/** Throws ToolError when there is no such call or session, and when the journal does not verify. */
export function packBundle(request: BundleRequest): { readonly bytes: Buffer } & OpenedBundle {
  const { id, state, now = () => new Date() } = request;
  const { registry, source } = registryOnDisk(request);
  const redactor = createRedactor({ secrets: hostSecrets(registry, process.env) });
  const reader = openJournalReader(state);
  try {
    const { ok, broken, head } = reader.verify();
    if (!ok) throw notVerified(broken?.reason ?? 'unknown');
    const found = recordsAbout(id, (filter) => [...reader.records({ archived: true, ...filter })]);
    const session = found.all.find((record) => record.kind === 'session' && record.event === 'opened');
    const ran = session?.kind === 'session' ? session.registry_fingerprint : undefined;
    const bundle: AuditBundle = {
      format: FORMAT,
      version: 1,
      made_at: now().toISOString(),
      about: found.about,
      records: found.records,
      registry:
        source === undefined
          ? null
          : {
              file: source.file,
              text: redactor.redactText(source.text),
              is_the_sessions: ran === undefined ? null : ran === registry.fingerprint,
            },
      artifacts: artifactsOf(found.records, state, redactor),
      head,
    };
    const key = signingKey(openEvidenceFolder(state).key);
    return { bytes: seal(bundle, key), bundle, signedBy: fingerprint(createPublicKey(key)) };
  } finally {
    reader.close();
  }
}

interface Found {
  readonly about: AuditBundle['about'];
  readonly records: readonly StoredRecord[];
  /** Also those of the session a call belongs to. */
  readonly all: readonly StoredRecord[];
}

function recordsAbout(
  id: string,
  read: (filter: { callId?: string; sessionId?: string }) => readonly StoredRecord[],
): Found {
  const ofCall = read({ callId: id });
  const [first] = ofCall;
  if (first !== undefined) {
    const sessionId = 'session_id' in first ? first.session_id : undefined;
    return {
      about: { call_id: id },
      records: ofCall,
      all: sessionId === undefined ? ofCall : read({ sessionId }),
    };
  }
  const ofSession = read({ sessionId: id });
  if (ofSession.length === 0) throw notFound(id);
  return { about: { session_id: id }, records: ofSession, all: ofSession };
}

function artifactsOf(records: readonly StoredRecord[], state: string, redactor: Redactor): readonly BundledArtifact[] {
  const store = createArtifactFiles(state);
  const handles = new Set(records.flatMap((record) => (record.kind === 'result' ? (record.artifacts ?? []) : [])));
  return [...handles].map((handle): BundledArtifact => {
    try {
      const { bytes, totalBytes } = store.read(handle, { offset: 0, length: MAX_ARTIFACT_BYTES });
      if (totalBytes > MAX_ARTIFACT_BYTES) return { handle, bytes: totalBytes, left_out: 'too_large' };
      const shown = masked(bytes, redactor);
      return { handle, bytes: shown.length, content: shown.toString('base64'), sha256: sha256Hex(shown) };
    } catch (thrown) {
      if (!(thrown instanceof ToolError)) throw thrown;
      return { handle, bytes: 0, left_out: 'deleted' };
    }
  });
}

/** Bytes that are not text stay as they are. */
function masked(bytes: Uint8Array, redactor: Redactor): Buffer {
  const raw = Buffer.from(bytes);
  const text = raw.toString('utf8');
  return Buffer.from(text).equals(raw) ? Buffer.from(redactor.redactText(text)) : raw;
}

function seal(bundle: AuditBundle, key: KeyObject): Buffer {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  const body = bundle as unknown as JsonObject;
  const signature = sign(null, Buffer.from(canonicalJson(body)), key).toString('base64');
  return gzipSync(JSON.stringify({ bundle: body, public_key: publicKey, signature }));
}

/** Anyone can sign a bundle, so what is inside is checked like any message. */
const fileSchema = z.strictObject({
  bundle: z.strictObject({
    format: z.literal(FORMAT),
    version: z.literal(1),
    made_at: z.iso.datetime(),
    about: z.union([z.strictObject({ call_id: z.string() }), z.strictObject({ session_id: z.string() })]),
    records: z.array(z.looseObject({ kind: z.string(), seq: z.int(), at_ms: z.number() })),
    registry: z
      .strictObject({ file: z.string(), text: z.string(), is_the_sessions: z.boolean().nullable() })
      .nullable(),
    artifacts: z.array(
      z.strictObject({
        handle: z.string().regex(/^artifact:[0-9a-f]{32}$/),
        bytes: z.int(),
        content: z.base64().optional(),
        sha256: z.string().optional(),
        left_out: z.enum(['deleted', 'too_large']).optional(),
      }),
    ),
    head: z.strictObject({ seq: z.int(), mac: z.string().regex(/^[0-9a-f]{64}$/) }),
  }),
  public_key: z.base64(),
  signature: z.base64(),
});

/** Throws ToolError for a file that is no bundle, or was changed after it was signed. */
export function openBundle(bytes: Uint8Array): OpenedBundle {
  const { bundle, public_key: publicKey, signature } = parseFile(bytes);
  const key = readKey(publicKey);
  const body = canonicalJson(bundle as unknown as JsonObject);
  if (!verify(null, Buffer.from(body), key, Buffer.from(signature, 'base64'))) throw changed();
  for (const { content, sha256 } of bundle.artifacts) {
    if (content !== undefined && sha256Hex(Buffer.from(content, 'base64')) !== sha256) throw changed();
  }
  return { bundle: bundle as unknown as AuditBundle, signedBy: fingerprint(key) };
}

function parseFile(bytes: Uint8Array): z.infer<typeof fileSchema> {
  let value: unknown;
  try {
    value = JSON.parse(gunzipSync(bytes, { maxOutputLength: MAX_BUNDLE_BYTES }).toString('utf8'));
  } catch {
    throw noBundle();
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) throw noBundle();
  return parsed.data;
}

function readKey(text: string): KeyObject {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), type: 'spki', format: 'der' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The same as a key of another kind.
  }
  throw noBundle();
}

function fingerprint(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/** An Ed25519 key in PKCS #8 is this prefix and 32 bytes. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

function signingKey(journalKey: Uint8Array): KeyObject {
  const seed = Buffer.from(purposeKey(journalKey, 'tool-runtime audit bundle v1'), 'hex');
  return createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), type: 'pkcs8', format: 'der' });
}

function notFound(id: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `No such call or session: ${id.slice(0, 100)}`, {
    details: { reason: 'not_found', next: 'run: tool-runtime audit list, then name a call or a session' },
  });
}

function notVerified(why: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Journal does not verify, so nothing of it is bundled: ${why}`, {
    details: { reason: 'journal_broken', next: 'run: tool-runtime audit verify' },
  });
}

function noBundle(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'File is not an audit bundle', {
    details: { reason: 'no_bundle', next: 'name a file that tool-runtime audit bundle wrote' },
  });
}

function changed(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'Bundle was changed after it was signed', {
    details: { reason: 'bundle_changed', next: 'ask for it again' },
  });
}
