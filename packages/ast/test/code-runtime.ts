/** A real runtime with code intelligence on a scratch folder of real files, with git where a test wants it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ErrorEntry, ToolResponse } from '@tool-runtime/protocol';
import type { AnyTool, AstPlugin, Runtime, RuntimeOptions, Session } from '@tool-runtime/sdk';
import { createCommandRunner, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { createAst } from '../src/create-ast.ts';
import type { AstOptions } from '../src/plugin/ast-options.ts';

/** Path → content; null removes it. */
export type Files = Readonly<Record<string, string | null>>;

export interface CodeRuntime extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly session: Session;
  readonly workspace: string;
  readonly state: string;
  /** The whole answer; data of a successful call is checked against the tool's schema. */
  call(tool: string, args: object): Promise<ToolResponse>;
  /** The data of a call that must succeed. */
  ask<Data = Record<string, unknown>>(tool: string, args: object): Promise<Data>;
  /** The error of a call that must fail. */
  refusal(tool: string, args: object): Promise<ErrorEntry>;
  write(files: Files): void;
  read(path: string): string;
  git(...words: readonly string[]): string;
  /** Puts a shell script where programs are looked for; with `programs` only. */
  program(name: string, script: string): void;
}

export interface CodeRuntimeOptions {
  /** The registry below `version: 1`. */
  readonly registry?: string;
  /** Commits the files. */
  readonly git?: boolean;
  /** Programs are also found where the project's own tools are installed, and where `program` puts them. */
  readonly programs?: boolean;
  readonly tools?: readonly AnyTool[];
  readonly ast?: AstOptions;
  readonly runtime?: Partial<RuntimeOptions>;
}

const MODULES = realpathSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)));

export async function openCodeRuntime(files: Files, options: CodeRuntimeOptions = {}): Promise<CodeRuntime> {
  const ast = createAst(options.ast);
  const bin = realpathSync(mkdtempSync(join(tmpdir(), 'code-programs-')));
  const scratch = await openScratchRuntime({
    ...(options.programs === true ? withPrograms(ast, bin) : { ast }),
    ...(options.registry === undefined
      ? {}
      : { registry: { file: 'r.yaml', text: `version: 1\n${options.registry}\n` } }),
    ...(options.tools === undefined ? {} : { tools: options.tools }),
    ...options.runtime,
  });
  const { workspace, session } = scratch;
  const schemas = new Map(ast.tools.map((tool) => [tool.name, tool.data]));
  const code: CodeRuntime = {
    runtime: scratch.runtime,
    session,
    workspace,
    state: scratch.state,
    async call(tool, args) {
      const response = await session.call(tool, args);
      if (response.ok) schemas.get(tool)?.parse(response.data);
      return response;
    },
    async ask(tool, args) {
      const response = await code.call(tool, args);
      assert.deepEqual(response.errors, []);
      return response.data as never;
    },
    async refusal(tool, args) {
      const { ok, errors } = await code.call(tool, args);
      assert.equal(ok, false);
      return errors[0] as ErrorEntry;
    },
    write: (changed) => writeFiles(workspace, changed),
    read: (path) => readFileSync(join(workspace, path), 'utf8'),
    git: (...words) => execFileSync('git', words, { cwd: workspace, encoding: 'utf8', stdio: 'pipe', env: GIT_ENV }),
    program: (name, script) => writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
    async [Symbol.asyncDispose]() {
      await scratch.dispose();
      rmSync(bin, { recursive: true, force: true });
    },
  };
  code.write(files);
  if (options.git === true) commitAll(code);
  return code;
}

/** The same runner for calls and for language servers, without a sandbox, which is tested elsewhere. */
function withPrograms(ast: AstPlugin, bin: string): Partial<RuntimeOptions> {
  const runnerFor = (workspace: string, state: string) =>
    createCommandRunner({
      ...{ workspace, state, isolation: 'none', allowedDomains: [] },
      programFolders: [bin, join(MODULES, '.bin')],
      readPaths: [MODULES],
    });
  let places: { readonly root: string; readonly state: string } | undefined;
  return {
    ast: {
      ...ast,
      async open(ports) {
        places = ports;
        const commands = runnerFor(ports.root, ports.state);
        const opened = await ast.open({ ...ports, commands });
        return {
          index: opened.index,
          async close() {
            await opened.close();
            await commands.close();
          },
        };
      },
    },
    ports: {
      wrapParts: (parts) => ({
        ...parts,
        createPrograms(registry, session) {
          const programs = parts.createPrograms(registry, session);
          const commands = runnerFor(places?.root ?? '', places?.state ?? '');
          return {
            git: programs.git,
            commands,
            async close() {
              await commands.close();
              await programs.close();
            },
          };
        },
      }),
    },
  };
}

const GIT_ENV = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

function commitAll({ git }: CodeRuntime): void {
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada Tester');
  git('config', 'user.email', 'ada@example.org');
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message=chore: begin');
}

function writeFiles(workspace: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    if (content === null) rmSync(path, { force: true });
    else writeFileSync(path, content);
  }
}
