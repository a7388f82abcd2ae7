/**
 * A runtime with external tools: shell scripts beside the operator's registry, locked as they are. One script serves
 * many tools; what a run does is the text given to it as its first word.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@tool-runtime/protocol';
import type { RunResult } from '../src/contracts/external.ts';
import { lockExternalTools } from '../src/lock-external-tools.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../src/runtime.ts';
import type { Session } from '../src/session/session.ts';

/** Answers `--capabilities` as its name says, and otherwise does what the first word says. `result` writes a result. */
export const SCRIPT = `#!/bin/sh
name="\${TOOL_NAME:-$EPACK_TOOL_NAME}"
run="\${TOOL_RUN_DIR:-$EPACK_RUN_DIR}"
if [ "$1" = --capabilities ]; then
  case "$name" in
    needs-net) extra=',"network":true' ;;
    needs-pack) extra=',"requires_pack":true' ;;
    needs-other) extra=',"requires_pack":true,"requires_tools":["needs-pack"]' ;;
    *) extra=',"requires_pack":false' ;;
  esac
  echo "{\\"name\\":\\"$name\\",\\"version\\":\\"1.2.3\\",\\"protocol_version\\":1$extra}"
  exit 0
fi
result() { # outputs, errors, run id, status
  cat > "$run/result.json" <<END
{"schema_version":1,"wrapper":{"name":"tool-runtime","version":"x"},"tool":{"name":"$name","version":"9","protocol_version":1},
"run_id":"\${3:-$TOOL_RUN_ID}","started_at":"$TOOL_STARTED_AT","completed_at":"$TOOL_STARTED_AT","duration_ms":0,"exit_code":0,
"tool_exit_code":0,"status":"\${4:-success}","inputs":{},"outputs":\${1:-[]},"errors":\${2:-[]},"warnings":[],"extra":"kept"}
END
}
first="$1"
[ -n "\${TOOL_PACK_PATH:-$EPACK_PACK_PATH}" ] && shift
work="$1"
[ $# -gt 0 ] && shift
eval "$work"
`;

export interface Scene {
  readonly runtime: Runtime;
  readonly session: Session;
  readonly workspace: string;
  readonly state: string;
  /** Where the registry, the lock and the scripts lie. */
  readonly operator: string;
  readonly lockPath: string;
  /** Every result below the state folder, oldest first. */
  results(): readonly (RunResult & JsonObject)[];
  dispose(): Promise<void>;
}

export interface SceneOptions {
  /** Entries of `external_tools`, one line of YAML each; `command` defaults to the script. */
  readonly tools: readonly string[];
  /** Further lines of the registry. */
  readonly registry?: readonly string[];
  /** Tools to lock; all by default. */
  readonly lock?: readonly string[] | 'nothing';
  /** Further files beside the registry; those that begin with `#!` can be run. */
  readonly files?: Readonly<Record<string, string>>;
  readonly runtime?: Partial<RuntimeOptions>;
}

export async function openExternalScene(options: SceneOptions): Promise<Scene> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'tool-runtime-external-')));
  const [workspace, state, operator] = ['workspace', 'state', 'operator'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [workspace, operator]) mkdirSync(folder);
  for (const [name, text] of Object.entries({ 'tool.sh': SCRIPT, ...options.files })) {
    mkdirSync(join(operator, name, '..'), { recursive: true });
    writeFileSync(join(operator, name), text);
    if (text.startsWith('#!')) chmodSync(join(operator, name), 0o755);
  }
  const entries = options.tools.map((entry) => (entry.includes('command:') ? entry : `${entry}, command: tool.sh`));
  const registry = join(operator, 'tool-runtime.yaml');
  const lines = [
    'version: 1',
    ...(options.registry ?? []),
    'external_tools:',
    ...entries.map((entry) => `  - {${entry}}`),
  ];
  writeFileSync(registry, `${lines.join('\n')}\n`);
  const runtime = await createRuntime({ workspace, state, registry, ...options.runtime });
  if (options.lock !== 'nothing') {
    const chosen = options.lock === undefined ? {} : { tools: options.lock };
    await lockExternalTools({ workspace, state, registry: runtime.registry, registryFile: registry, ...chosen });
  }
  const session = await runtime.openSession();
  return {
    runtime,
    session,
    workspace,
    state,
    operator,
    lockPath: join(operator, 'tool-runtime.lock'),
    results: () => resultsBelow(join(state, 'external')),
    async dispose() {
      await runtime.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function resultsBelow(folder: string): readonly (RunResult & JsonObject)[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('/result.json'),
  );
  const results = names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as RunResult & JsonObject);
  return results.sort((left, right) => (left.run_id < right.run_id ? -1 : 1));
}
