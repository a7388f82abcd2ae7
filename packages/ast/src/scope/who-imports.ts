/** Which files import from a file, directly, and what by name. */
import type { Engine } from '../symbols/engine.ts';
import { openFamily } from './open-family.ts';
import { firstBroken } from './rename/find-candidates.ts';
import type { Refusal } from './rename/rename-plan.ts';
import { placeOf } from './rename/rename-plan.ts';
import type { ProjectFiles } from './scope-model.ts';

export interface ImporterRequest {
  readonly files: ProjectFiles;
  readonly engine: Engine;
  readonly path: string;
  readonly signal?: AbortSignal;
}

export interface Importer {
  readonly path: string;
  /** The module as written, without quotes. */
  readonly source: string;
  /** What is imported by name; empty for a whole module. */
  readonly names: readonly string[];
  /** Bytes of the source as written. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly col: number;
}

export interface FoundImporters {
  readonly importers: readonly Importer[];
  /** Then there may be more. */
  readonly refused?: Refusal;
}

export async function whoImports(request: ImporterRequest): Promise<FoundImporters> {
  const opened = await openFamily(request);
  if ('refused' in opened) return { importers: [], refused: opened.refused };
  const { project, system, file: imported } = opened;
  const needles = system.needlesOf(imported);
  const candidates = new Set(needles.flatMap((needle) => project.mentioning(needle)));
  candidates.delete(imported.path);
  const importers: Importer[] = [];
  for (const path of [...candidates].sort()) {
    const file = project.file(path);
    for (const { source, names, start, end, paths } of file === undefined ? [] : system.sourcesOf(file)) {
      if (file === undefined || !paths.includes(imported.path)) continue;
      const text = file.scopes.source;
      importers.push({
        path,
        source,
        names,
        start: text.toByte(start),
        end: text.toByte(end),
        ...placeOf(text, start),
      });
    }
  }
  const broken = firstBroken(project, [...candidates]);
  return broken === undefined ? { importers } : { importers, refused: broken };
}
