/** The modules that one Rust file declares and what its `use` declarations bring in. */
import { posix } from 'node:path';
import type { Binding, FileScopes, NameToken, Scope } from '../../scope-model.ts';

export interface RustUse {
  readonly local: NameToken;
  /** Last part of the path; the same token unless there is an alias. */
  readonly source: NameToken;
}

export interface RustGlob {
  readonly source: NameToken;
  readonly scope: Scope;
}

export interface RustModuleFile {
  readonly name: NameToken;
  /** Files it can be, the first that exists counts. */
  readonly candidates: readonly string[];
}

export interface RustLinks {
  readonly uses: ReadonlyMap<Binding, readonly RustUse[]>;
  readonly byLocal: ReadonlyMap<number, RustUse>;
  readonly globs: readonly RustGlob[];
  /** `mod name;` */
  readonly files: ReadonlyMap<Binding, RustModuleFile>;
  /** `mod name { … }` */
  readonly inline: ReadonlyMap<Binding, Scope>;
  /** `extern crate name as local;` */
  readonly crates: ReadonlyMap<Binding, string>;
}

const ROOTS = new Set(['mod.rs', 'lib.rs', 'main.rs']);
const PATH_ATTRIBUTE = /#\[\s*path\s*=\s*"([^"]+)"\s*\](?:\s*#\[[^\]]*\])*\s*(?:pub\s*(?:\([^)]*\))?\s*)?mod\s*$/;

export function readRustLinks(path: string, scopes: FileScopes): RustLinks {
  const uses = new Map<Binding, RustUse[]>();
  const byLocal = new Map<number, RustUse>();
  const files = new Map<Binding, RustModuleFile>();
  const inline = new Map<Binding, Scope>();
  const crates = new Map<Binding, string>();
  const globs: RustGlob[] = [];
  for (const { form, parts, scope } of scopes.links) {
    const at = (part: string) => scopes.tokenAt(parts.get(part)?.start ?? -1);
    const range = parts.get('source');
    const source = range && scopes.tokenFilling(range);
    const [name, local] = [at('name'), at('local')];
    if (form === 'glob' && source !== undefined) globs.push({ source, scope });
    if (form === 'use' && local?.binding !== undefined && (source !== undefined || range === undefined)) {
      const use = { local, source: source ?? local };
      uses.set(local.binding, [...(uses.get(local.binding) ?? []), use]);
      byLocal.set(local.start, use);
    }
    if (form === 'crate' && local?.binding !== undefined) crates.set(local.binding, (source ?? local).name);
    if (form === 'file' && name?.binding !== undefined) {
      files.set(name.binding, { name, candidates: candidatesFor(path, name, scopes) });
    }
    if (form === 'inline' && name?.binding !== undefined) {
      inline.set(name.binding, scopes.scopeAt(parts.get('body')?.start ?? 0));
    }
  }
  return { uses, byLocal, globs, files, inline, crates };
}

/** `a.rs` or `a/mod.rs`, in the folder that belongs to the file and the modules written out around the declaration. */
function candidatesFor(path: string, { name, start, scope }: NameToken, scopes: FileScopes): string[] {
  const folder = posix.dirname(path);
  const written = PATH_ATTRIBUTE.exec(scopes.source.text.slice(0, start))?.[1];
  if (written !== undefined) return [posix.join(folder, written)];
  const own = posix.join(folder, posix.basename(path, '.rs'));
  const folders = ROOTS.has(posix.basename(path)) ? [folder] : [own, folder];
  const around = inlineNames(scope, scopes);
  return folders
    .map((one) => posix.join(one, ...around))
    .flatMap((one) => [posix.join(one, `${name}.rs`), posix.join(one, name, 'mod.rs')]);
}

function inlineNames(scope: Scope, scopes: FileScopes): string[] {
  const names: string[] = [];
  for (let one: Scope | undefined = scope; one !== undefined; one = one.parent) {
    const link = scopes.links.find(({ form, parts }) => form === 'inline' && parts.get('body')?.start === one?.start);
    const name = scopes.tokenAt(link?.parts.get('name')?.start ?? -1)?.name;
    if (name !== undefined) names.unshift(name);
  }
  return names;
}
