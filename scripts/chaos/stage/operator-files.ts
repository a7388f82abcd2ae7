/** The operator's folder: the registry that allows what the calls need and no more, and one external tool. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each run makes one file named after its token: two files mean that it ran twice. */
const MARK = `#!/bin/sh
if [ "$1" = --capabilities ]; then
  echo '{"name":"mark","version":"1.0.0","protocol_version":1,"requires_pack":false}'
  exit 0
fi
if [ "$1" = --version ]; then echo 1.0.0; exit 0; fi
mktemp -p "$TOOL_PROJECT_ROOT/marks" "$1.XXXXXX" >/dev/null || exit 1
mkdir -p "$TOOL_RUN_DIR/outputs" && echo "$1" > "$TOOL_RUN_DIR/outputs/token.txt"
sleep "\${2:-0}"
`;

/** Tools in a sandbox of their own or with a long way to go are those that faults find running. */
function registryText(allowedPort: number): string {
  return `version: 1
network: {allowed_domains: ['127.0.0.1:${allowedPort}']}
shell_allow:
  - '^mktemp -p tokens [a-z0-9-]+\\.XXXXXX$'
  - '^sleep [0-9.]+$'
  - '^cat [a-z0-9/.-]+$'
  - '^seq [0-9]+$'
git: {allow_push: true, require_clean_tree_for_commit: false}
external_tools:
  - {name: mark, command: mark.sh, side_effect_level: workspace_write, writable: true}
children: {max_children: 1000}
limits: {lock_wait_ms: 5000}
`;
}

/** Answers the path of the registry. */
export function writeOperatorFiles(folder: string, allowedPort: number): string {
  mkdirSync(folder);
  const registry = join(folder, 'registry.yaml');
  writeFileSync(registry, registryText(allowedPort));
  writeFileSync(join(folder, 'mark.sh'), MARK);
  chmodSync(join(folder, 'mark.sh'), 0o755);
  return registry;
}
