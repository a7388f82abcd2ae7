/**
 * Renames through `ast_edit` with a running TypeScript server on ten released packages that the comparison of the resolver
 * does not use: names of every kind, members among them. Each is carried out, and the compiler must find nothing that it
 * did not find before. A refusal must leave every file as it is.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CodeRuntime, openCodeRuntime } from '../code-runtime.ts';
import { TS_PROJECT } from './disk-project.ts';

const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const PACKAGES = [
  'zod',
  'yaml-ast-parser',
  '@arethetypeswrong/core',
  'pg-protocol',
  '@cfworker/json-schema',
  '@secretlint/core',
  '@secretlint/types',
  '@posthog/types',
  '@ai-sdk/provider-v7',
  '@ai-sdk/provider-utils-v6',
] as const;
const RENAMES = 6;
const NEW_NAME = 'renamedByTest';

interface Row {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly file: string;
}

describe('ast_edit with a server on released packages [S0-54]', () => {
  for (const name of PACKAGES) {
    test(`breaks nothing in ${name}`, { timeout: 600_000 }, async (t) => {
      await using code = await openCodeRuntime(TS_PROJECT, {
        programs: true,
        registry: 'side_effect_level: process_exec\nisolation: none\ntools: { ast_edit: { timeout_ms: 300000 } }',
      });
      cpSync(join(MODULES, name, 'src'), join(code.workspace, 'src'), { recursive: true });
      const targets = await chooseTargets(code);
      assert.ok(targets.length >= RENAMES / 2, `${targets.length} targets`);
      const original = sourcesOf(code.workspace);
      const before = compilerErrors(code.workspace);
      const tally = { proven: 0, server: 0, resolver: 0, tree: 0, refused: 0 };
      for (const { id, type, name: old } of targets) {
        const request = { operation: 'rename_symbol', target_node_id: id, new_name: NEW_NAME, timeout_ms: 300_000 };
        const { ok, data, errors } = await code.call('ast_edit', request);
        const what = `${type} ${old}: ${errors[0]?.message ?? ''}`;
        if (ok) {
          tally[(data as { confidence: keyof typeof tally }).confidence]++;
          assert.deepEqual(withoutKnown(compilerErrors(code.workspace), before, old), [], what);
          for (const [path, text] of original) writeFileSync(join(code.workspace, path), text);
        } else {
          tally.refused++;
          assert.equal(errors[0]?.code, 'E_AST_EDIT', what);
        }
        assert.deepEqual(sourcesOf(code.workspace), original, what);
      }
      t.diagnostic(`${targets.length} renames: ${JSON.stringify(tally)}`);
      assert.ok(tally.refused < targets.length, 'every rename was refused');
    });
  }
});

/** Spread over all declarations, one kind after the other. */
async function chooseTargets(code: CodeRuntime): Promise<readonly Row[]> {
  await code.ask('ast_generate', {});
  const { nodes } = await code.ask<{ nodes: readonly Row[] }>('ast_query', { where: {}, limit: 10_000 });
  const named = nodes.filter(
    ({ name }) => /^[A-Za-z_]\w{2,}$/.test(name) && name !== 'constructor' && name !== 'default',
  );
  const kinds = [...Map.groupBy(named, ({ type }) => type).values()];
  return Array.from({ length: RENAMES }, (_, at) => {
    const kind = kinds[at % kinds.length] ?? [];
    return kind[Math.floor((kind.length * at) / RENAMES)];
  }).filter((row, at, all) => row !== undefined && all.findIndex((other) => other?.id === row.id) === at) as Row[];
}

function sourcesOf(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return new Map(names.toSorted().map((path) => [join('src', path), readFileSync(join(folder, 'src', path), 'utf8')]));
}

/** What the compiler says now and did not say before, without places. */
function withoutKnown(now: readonly string[], before: readonly string[], old: string): readonly string[] {
  const left = [...before];
  return now.filter((error) => {
    const known = left.indexOf(error.replaceAll(NEW_NAME, old));
    if (known !== -1) left.splice(known, 1);
    return known === -1;
  });
}

function compilerErrors(folder: string): string[] {
  const { stdout } = spawnSync(join(MODULES, '.bin/tsc'), ['--noEmit', '--pretty', 'false', '-p', folder], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  return stdout.split('\n').flatMap((line) => /^(.*)\(\d+,\d+\): (error .*)$/.exec(line)?.slice(1).join(': ') ?? []);
}
