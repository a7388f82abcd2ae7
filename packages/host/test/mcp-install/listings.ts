/** Every tool there is, as a session lists them when the registry allows everything. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAst } from '@tool-runtime/ast';
import { createRuntime, type ToolListing } from '@tool-runtime/sdk';

const REGISTRY = `version: 1
shell_allow: ['^ls$']
git: { allow_push: true }
network: { allowed_domains: [example.org] }
`;

export async function allListings(): Promise<readonly ToolListing[]> {
  const root = mkdtempSync(join(tmpdir(), 'tool-runtime-listings-'));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  const runtime = await createRuntime({
    workspace,
    state: join(root, 'state'),
    ast: createAst(),
    registry: { text: REGISTRY, file: 'r.yaml' },
  });
  try {
    return (await runtime.preview()).tools;
  } finally {
    await runtime.close();
    rmSync(root, { recursive: true, force: true });
  }
}
