/** An output of a run as an artifact, unless it is not what was judged or holds what must not travel. */
import type { ArtifactRef, ArtifactStore } from '../../contracts/artifacts.ts';
import { readContent } from '../descriptors/file-content.ts';
import type { HeldFolder } from '../descriptors/held-folder.ts';
import { openOutput } from './output-path.ts';

export interface OutputKeeping {
  readonly path: string;
  /** As it was judged. */
  readonly digest: string;
  readonly artifacts: ArtifactStore;
  /** Values that must not be in it. */
  readonly forbidden: readonly string[];
}

/** The reason it was not kept: `secret` or `changed`. Throws E_VALIDATION_FAIL for a path that is no output any more. */
export async function keepOutput(
  folder: HeldFolder,
  keeping: OutputKeeping,
): Promise<ArtifactRef | 'secret' | 'changed'> {
  const fd = openOutput(folder, keeping.path);
  const writer = keeping.artifacts.create();
  const search = createSearch(keeping.forbidden);
  let isKept = false;
  try {
    const { sha256 } = await readContent(fd, {
      maxBytes: 0,
      onPiece(piece) {
        search.add(piece);
        writer.write(piece);
      },
    });
    if (search.hasFound()) return 'secret';
    if (`sha256:${sha256}` !== keeping.digest) return 'changed';
    isKept = true;
    return writer.finish();
  } finally {
    if (!isKept) writer.discard();
  }
}

/** Finds a value also where two pieces meet. */
function createSearch(values: readonly string[]) {
  const wanted = values.map((value) => Buffer.from(value));
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  let tail = Buffer.alloc(0);
  let isFound = false;
  return {
    add(piece: Uint8Array): void {
      if (isFound || wanted.length === 0) return;
      const text = Buffer.concat([tail, piece]);
      isFound = wanted.some((value) => text.includes(value));
      tail = Buffer.from(text.subarray(Math.max(0, text.length - overlap)));
    },
    hasFound: () => isFound,
  };
}
