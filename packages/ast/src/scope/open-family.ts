/** The project and the module system that a file belongs to, ready to be asked. */
import type { Engine } from '../symbols/engine.ts';
import type { ModuleFamily, ModuleSystem } from './module-system.ts';
import { familyOf } from './modules/catalog.ts';
import { firstBroken } from './rename/find-candidates.ts';
import type { Refusal } from './rename/rename-plan.ts';
import type { ProjectFiles } from './scope-model.ts';
import { openScopeProject, type ProjectFile, type ScopeProject } from './scope-project.ts';

export interface OpenRequest {
  readonly files: ProjectFiles;
  readonly engine: Engine;
  readonly path: string;
  readonly signal?: AbortSignal;
}

export interface OpenedFamily {
  readonly family: ModuleFamily;
  readonly project: ScopeProject;
  readonly system: ModuleSystem;
  readonly file: ProjectFile;
  readonly language: string;
}

/** Refuses a file whose language has no module system, that is not there, or that does not parse. */
export async function openFamily(request: OpenRequest): Promise<OpenedFamily | { readonly refused: Refusal }> {
  const { files, engine, path, signal } = request;
  const language = engine.detect(path);
  const family = familyOf(language);
  if (language === undefined || family === undefined) {
    return { refused: { reason: 'unsupported_language', message: `No scopes are known for this file: ${path}` } };
  }
  const project = await openScopeProject({ files, engine, languages: family.languages, signal });
  const file = project.file(path);
  const broken = firstBroken(project, [path]);
  if (broken !== undefined) return { refused: broken };
  if (file === undefined) return { refused: { reason: 'stale_target', message: `File not found: ${path}` } };
  return { family, project, system: family.create(project, files), file, language };
}
