/** `providers`: language servers and analyzers by name. The part that starts them checks which keys go together. */
import type { JsonValue } from '@tool-runtime/protocol';
import { z } from 'zod';
import { bareTable } from '../freeze.ts';
import { type Narrowing, sameJson } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { nameText } from '../texts.ts';

const word = z.string().min(1).max(4096);
const freeMap = z.record(z.string(), z.unknown());

const provider = z.strictObject({
  kind: z.enum(['lsp', 'analyzer']).exactOptional().describe('What it is; a known name needs none'),
  enabled: z.boolean().exactOptional().describe('false: never started; left out: true'),
  command: z
    .union([word, z.array(word).min(1).max(100)], 'a program, or a list of a program and its arguments')
    .exactOptional()
    .describe('lsp: bare name of the program. analyzer: list of the program and its arguments'),
  args: z.array(z.string().max(4096)).max(100).exactOptional().describe('lsp: arguments of the program'),
  languages: z.array(word).min(1).exactOptional().describe('lsp: ids of languages; left out: those of documents'),
  documents: z
    .record(z.string(), word)
    .exactOptional()
    .describe('lsp: how a file name ends → language id of the protocol; a new server needs it'),
  root_markers: z
    .array(word)
    .exactOptional()
    .describe("lsp: file names; the outermost folder that holds one is the server's root"),
  initialization_options: freeMap.exactOptional().describe('lsp: sent to the server when it starts'),
  settings: freeMap.exactOptional().describe('lsp: answers to workspace/configuration, by section'),
  env: z
    .record(z.string(), z.string().max(32_768))
    .exactOptional()
    .describe('lsp: variables of the server, with their values'),
  ready: z
    .looseObject({
      strategy: z
        .enum(['immediate', 'progress-idle', 'log-match', 'status-quiescent'])
        .describe('What shows that the server is ready'),
    })
    .exactOptional()
    .describe('lsp: when the first question may be asked; progress-idle takes quiet_ms and grace_ms, log-match lines'),
  memory_mb: z
    .int()
    .min(64)
    .max(1_048_576)
    .exactOptional()
    .describe('lsp: memory above which the server is restarted; left out: 2048 for a new server'),
  format: z.string().min(1).exactOptional().describe('analyzer: how its output is read; goes with command'),
  timeout_ms: z.int().min(1).max(3_600_000).exactOptional().describe('analyzer: time limit of a run'),
  good_codes: z
    .array(z.int().min(0).max(255))
    .min(1)
    .exactOptional()
    .describe('analyzer: exit codes after which the output counts'),
  install: z.string().min(1).max(500).exactOptional().describe('analyzer: what to do where the program is missing'),
});

export const providers = defineSection({
  keys: {
    providers: z
      .record(nameText, provider)
      .default({})
      .describe('Language servers and analyzers by name: new ones, and changes of known ones'),
  },
  build: (written) => ({ providers: bareTable(Object.entries(written.providers as Record<string, JsonValue>)) }),
  narrow: (narrowing) => ({ providers: narrowProviders(narrowing) }),
  needs: (written) => (Object.keys(written.providers).length > 0 ? 'process_exec' : undefined),
});

function narrowProviders({ host, session, overreach }: Narrowing): Readonly<Record<string, JsonValue>> {
  const kept = Object.entries(session.providers).filter(([name, provider]) => {
    if (sameJson(provider, host.providers[name])) return true;
    overreach.push({ path: `providers.${name}`, message: `Provider is not one of the host's: ${name}` });
    return false;
  });
  return bareTable(kept);
}
