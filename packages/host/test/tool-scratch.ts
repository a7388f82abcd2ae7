/** A scratch folder with external tools beside an operator's registry. What a run does is the first word given to it. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliRun, createScratch, type RunOptions, runCli, type Scratch } from './run-cli.ts';

const SCRIPT = `#!/bin/sh
if [ "$1" = --capabilities ]; then
  [ "$TOOL_NAME" = packed ] && pack=true || pack=false
  echo "{\\"name\\":\\"$TOOL_NAME\\",\\"version\\":\\"1.0\\",\\"protocol_version\\":1,\\"requires_pack\\":$pack}"
  exit 0
fi
result() { # outputs
  cat > "$TOOL_RUN_DIR/result.json" <<END
{"schema_version":1,"wrapper":{"name":"tool-runtime","version":"x"},
"tool":{"name":"$TOOL_NAME","version":"1.0","protocol_version":1},"run_id":"$TOOL_RUN_ID",
"started_at":"$TOOL_STARTED_AT","completed_at":"$TOOL_STARTED_AT","duration_ms":0,"exit_code":0,"tool_exit_code":0,
"status":"success","inputs":{},"outputs":\${1:-[]},"errors":[],"warnings":[]}
END
}
[ -n "$TOOL_PACK_PATH" ] && shift
eval "$1"
`;

/** Leaves one output. */
export const WITH_OUTPUT = `printf 'a\\033b\\n' > a.txt; result '[{"path":"a.txt","media_type":"text/plain"}]'`;

export interface ToolScratch extends Scratch {
  /** Path of the program of every tool. */
  readonly program: string;
  readonly lockPath: string;
  /** A command with the options of this folder after its first word or two. */
  cli(words: readonly string[], options?: RunOptions): Promise<CliRun>;
  /** Folders of the runs of a tool that has no pack, oldest first. */
  runFolders(tool: string): readonly string[];
}

/** The tools `work`, `packed`, `typed` and `gone`, whose program is not there. */
export function createToolScratch(): ToolScratch {
  const scratch = createScratch();
  const operator = join(scratch.root, 'operator');
  mkdirSync(operator);
  const program = join(operator, 'tool.sh');
  writeFileSync(program, SCRIPT);
  chmodSync(program, 0o755);
  const registry = join(operator, 'tool-runtime.yaml');
  const lines = [
    'version: 1',
    'external_tools:',
    '  - {name: work, command: tool.sh}',
    '  - {name: packed, command: tool.sh}',
    '  - {name: typed, command: tool.sh, args_schema: {type: object, properties: {top: {type: integer}}}}',
    '  - {name: gone, command: gone.sh}',
  ];
  writeFileSync(registry, `${lines.join('\n')}\n`);
  const options = [...scratch.options, '--registry', registry];
  return {
    ...scratch,
    options,
    program,
    lockPath: join(operator, 'tool-runtime.lock'),
    // Before a bare `--`, which makes words of everything behind it.
    cli: (words, more) => {
      const end = words.indexOf('--');
      const at = end === -1 ? words.length : end;
      return runCli([...words.slice(0, at), ...options, ...words.slice(at)], more);
    },
    runFolders(tool) {
      const folder = join(scratch.state, 'external/runs', tool);
      return readdirSync(folder)
        .sort()
        .map((name) => join(folder, name));
    },
    [Symbol.dispose]: () => scratch[Symbol.dispose](),
  };
}

export function readResult(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8')) as Record<string, unknown>;
}
