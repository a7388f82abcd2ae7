/** A result as a tool writes it, for tests to bend. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { RunResult } from '../src/contracts/external.ts';

export const RUN_ID = '2025-01-15T10-30-00-000000Z-000000';
export const EMPTY_DIGEST = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Every field of the protocol filled in, and one from the future. */
export const FULL_RESULT = {
  schema_version: 1,
  wrapper: { name: 'tool-runtime', version: '1.0.0' },
  tool: { name: 'ask', version: '0.1.0', protocol_version: 1 },
  run_id: RUN_ID,
  pack_path: '/data/evidence.pack',
  pack_digest: EMPTY_DIGEST,
  started_at: '2025-01-15T10:30:00Z',
  completed_at: '2025-01-15T10:30:02Z',
  duration_ms: 2000,
  exit_code: 0,
  tool_exit_code: 0,
  status: 'partial',
  inputs: { question: 'why' },
  outputs: [{ path: 'outputs/answer.txt', media_type: 'text/plain', digest: EMPTY_DIGEST, bytes: 12 }],
  errors: [],
  warnings: [{ code: 'SLOW', message: 'took long', path: 'outputs/answer.txt', details: { seconds: 2 } }],
  sync: { ledger_id: null, synced_at: null, workspace: 'acme' },
  identity: { workspace: 'acme', actor: 'ada', actor_type: 'user', auth_mode: 'interactive' },
  run_context: {
    ci: true,
    ci_provider: 'github_actions',
    repo: 'acme/site',
    commit: 'c0ffee',
    branch: 'main',
    runner_os: 'linux',
    runner_arch: 'amd64',
  },
  run_digest: EMPTY_DIGEST,
  signing: {
    issuer: 'https://issuer.example',
    subject: 'workflow',
    source_repository_uri: 'https://example.org/acme/ask',
    source_repository_ref: 'refs/tags/v0.1.0',
  },
  resolved_from: { registry: 'github', descriptor: 'acme/ask@^0.1.0' },
  future: { nobody: ['knows', 1] },
} as const satisfies RunResult & JsonObject;
