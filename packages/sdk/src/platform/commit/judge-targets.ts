/**
 * Whether the paths of a commit below one root may be changed.
 *
 * What holds for a folder is looked up once for all names in it: a commit of ten thousand files asks about a few hundred.
 */
import type { BigIntStats } from 'node:fs';
import type { PathAccess } from '../../contracts/path-text.ts';
import type { Place } from '../descriptors/places.ts';
import { ErrnoError } from '../errno-error.ts';
import type { FolderGuard, GoverningFiles } from '../protection/governing-files.ts';
import { judgePlace } from '../protection/judge-place.ts';
import type { HeldFolders } from './held-folders.ts';

interface JudgedFolder {
  /** The nearest folder that exists, as the beginning of a path: empty, or with a slash at its end. */
  readonly held: string;
  /** The folders below it that do not exist yet. */
  readonly missing: readonly string[];
  readonly check: FolderGuard;
}

export class TargetJudge {
  readonly #folders: HeldFolders;
  readonly #look: ReturnType<GoverningFiles['lookAtFolders']>;
  readonly #judged = new Map<string, JudgedFolder>();

  constructor(guard: GoverningFiles, folders: HeldFolders) {
    this.#folders = folders;
    this.#look = guard.lookAtFolders();
  }

  /** Throws E_POLICY for governing files and path rules. `existing`: what is there now. */
  check(place: Place, existing: BigIntStats | undefined, access: PathAccess): void {
    const at = place.path.lastIndexOf('/');
    const name = place.path.slice(at + 1);
    const { held, missing, check } = this.#folder(at < 0 ? '' : place.path.slice(0, at));
    check({ missing, name, existing }, place.spelling);
    if (place.ruling?.rule === undefined) return;
    judgePlace(place, { dirFd: this.#folders.entry(`${held}x`).dirFd, below: [...missing, name] }, access);
  }

  #folder(path: string): JudgedFolder {
    const known = this.#judged.get(path);
    if (known !== undefined) return known;
    const isHeld = path === '' || this.#folders.find(`${path}/x`) !== undefined;
    const judged = isHeld ? this.#held(path === '' ? '' : `${path}/`) : this.#missing(path);
    this.#judged.set(path, judged);
    return judged;
  }

  #held(held: string): JudgedFolder {
    const { dirFd } = this.#folders.entry(`${held}x`);
    const location = this.#folders.root.locate(dirFd);
    // Moved out of the root since it was opened.
    if (location === undefined) throw new ErrnoError('EXDEV');
    return { held, missing: [], check: this.#look(dirFd, location) };
  }

  #missing(path: string): JudgedFolder {
    const at = path.lastIndexOf('/');
    const above = this.#folder(path.slice(0, Math.max(at, 0)));
    return { ...above, missing: [...above.missing, path.slice(at + 1)] };
  }
}

const UP = /(^|\/)\.\.(\/|$)/;
const NO_NAME = /(^|\/)\.?(\/|$)/;

/** A commit takes names one by one: none of them may lead elsewhere. */
export function requireNames(path: string): void {
  if (UP.test(path)) throw new ErrnoError('EXDEV');
  if (NO_NAME.test(path)) throw new ErrnoError('EISDIR');
}
