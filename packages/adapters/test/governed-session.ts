/** A scratch session whose registry refuses writes outside of `src/` and asks before anything is deleted. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeOptions, StoredRecord } from '@tool-runtime/sdk';
import { openScratchRuntime, type ScratchRuntime } from '@tool-runtime/sdk/testing';

const REGISTRY = `version: 1
arg_constraints:
  - tool: file_write
    arg_key: path
    arg_patterns: ["src/**"]
approvals:
  auto_approve: [file_write, file_patch]
  require_approval: [fs_delete]
`;

export interface GovernedSession extends ScratchRuntime {
  /** Records of calls, without those of the session itself. */
  calls(): StoredRecord[];
  /** Whether anything was about to happen or happened: intents and results. */
  deeds(): StoredRecord[];
}

export async function openGovernedSession(options: Partial<RuntimeOptions> = {}): Promise<GovernedSession> {
  const scratch = await openScratchRuntime({ registry: { file: 'rules.yaml', text: REGISTRY }, ...options });
  mkdirSync(join(scratch.workspace, 'src'));
  writeFileSync(join(scratch.workspace, 'src/hello.txt'), 'hello\n');
  const records = () => [...scratch.runtime.records()];
  return {
    ...scratch,
    calls: () => records().filter((record) => record.kind !== 'session'),
    deeds: () => records().filter((record) => record.kind === 'intent' || record.kind === 'result'),
  };
}

/** What every adapter must turn into words: a write where the registry forbids it. */
export const FORBIDDEN_WRITE = { path: 'elsewhere.txt', content: 'x' };

/** Words of that refusal: code, place in the registry, what to do instead. */
export const REFUSAL_WORDS = [/Refused \(E_POLICY\)/, /Decided at: rules\.yaml:\d+/, /Next: /];
