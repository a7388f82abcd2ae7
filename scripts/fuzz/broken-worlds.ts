/**
 * Each target over a world with one thing wrong: a line of the product is replaced while it is loaded, in a thread of its
 * own. The inputs are seeds, which the right world passes in every run.
 */
import { registerHooks } from 'node:module';
import type { FuzzCatalog } from './fuzz-target.ts';
import { FUZZ_TARGETS as RIGHT } from './targets/catalog.ts';

export interface BrokenWorld {
  /** File in the folder of the target's seeds. */
  readonly seed: string;
  /** What is wrong, in a few words. */
  readonly wrong: string;
  readonly file: string;
  readonly line: string;
  readonly by: string;
  /** What the target says about it. */
  readonly finds: RegExp;
}

const ROOT = new URL('../../packages/', import.meta.url);

/** Target → its broken world. */
export const BROKEN_WORLDS: Readonly<Record<string, BrokenWorld>> = {
  envelopes: {
    seed: 'doubled-key.json',
    wrong: 'a key may stand twice',
    file: 'protocol/src/primitives/scan-json.ts',
    line: "if (!isNew) throw this.#fault('duplicate_key', 'Duplicate key in JSON', start);",
    by: '',
    finds: /scanJson says undefined/,
  },
  'result-json': {
    seed: 'doubled.json',
    wrong: 'a result is not scanned',
    file: 'sdk/src/external/protocol/read-result.ts',
    line: 'scanJson(text, { maxBytes, maxDepth: MAX_DEPTH });',
    by: '',
    finds: /parseResult took it/,
  },
  urls: {
    seed: 'other-port',
    wrong: 'ports are not looked at',
    file: 'sdk/src/egress/domain-entry.ts',
    line: 'if (!portCovers(wide.port, narrow.port)) return false;',
    by: '',
    finds: /dials another host: crates\.io:8443/,
  },
  globs: {
    seed: 'stars-that-meet',
    wrong: 'no star crosses a slash',
    file: 'sdk/src/glob/glob-syntax.ts',
    line: "const globstar = part === '**';",
    by: 'const globstar = false as boolean;',
    finds: /it means something else: \{a,\*\}\* on a\/b/,
  },
  registries: {
    seed: 'session-and-host.yaml',
    wrong: 'a session allows itself to push',
    file: 'sdk/src/registry/sections/git.ts',
    line: 'allow_push: host.git.allow_push && session.git.allow_push,',
    by: 'allow_push: session.git.allow_push,',
    finds: /granted beyond the host/,
  },
  'shell-lines': {
    seed: 'quotes',
    wrong: 'quotes begin a word anew',
    file: 'sdk/src/shell/read-tokens.ts',
    line: 'value += piece.value;',
    by: 'value = piece.value;',
    finds: /bash reads other words/,
  },
  patches: {
    seed: 'usual',
    wrong: 'lines of context are lost',
    file: 'sdk/src/text/apply-patch.ts',
    line: 'else if (mark === CONTEXT) this.copyUntil(this.#line + 1);',
    by: 'else if (mark === CONTEXT) this.#line += 1;',
    finds: /lines were lost or joined/,
  },
  'lsp-frames': {
    seed: 'two-lengths',
    wrong: 'a frame has two lengths',
    file: 'ast/src/lsp/message-streams.ts',
    line: 'if (lines.length !== 1 || digits === undefined)',
    by: 'if (digits === undefined)',
    finds: /a broken stream was taken for frames/,
  },
  'mcp-frames': {
    seed: 'opening-2025',
    wrong: 'every frame is written twice',
    file: 'host/src/mcp/server/frame-transport.ts',
    line: 'if (this.#frames.push(frame) === 1) process.nextTick(this.#flush);',
    by: 'if (this.#frames.push(frame, frame) === 2) process.nextTick(this.#flush);',
    finds: /not one answer/,
  },
  dispatcher: {
    seed: 'calls',
    wrong: 'calls are answered twice',
    file: 'host/src/dispatch/connection.ts',
    line: 'return { room: () => this.#room(), onAnswer };',
    by: 'return { room: () => this.#room(), onAnswer: (answer) => (onAnswer(answer), onAnswer(answer)) };',
    finds: /4 answers to 2 lines/,
  },
};

export const FUZZ_TARGETS: FuzzCatalog = Object.fromEntries(
  Object.entries(BROKEN_WORLDS).map(([target, world]) => [
    target,
    async () => {
      breakWorld(world);
      const load = RIGHT[target];
      if (load === undefined) throw new TypeError(`No such target: ${target}`);
      return load();
    },
  ]),
);

/** In this thread only. */
function breakWorld({ file, line, by }: BrokenWorld): void {
  const broken = new URL(file, ROOT).href;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (url !== broken) return loaded;
      const parts = String(loaded.source).split(line);
      if (parts.length !== 2) throw new TypeError(`Not there once: ${line} in ${file}`);
      return { ...loaded, source: parts.join(by) };
    },
  });
}
