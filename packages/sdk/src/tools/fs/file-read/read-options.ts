/** Options of a read whose cancel signal is looked at only when the file is large: asking for it makes one. */
import type { ToolContext } from '../../../contracts/tool.ts';
import type { ReadOptions } from '../../../contracts/workspace.ts';

export class LazyReadOptions implements ReadOptions {
  readonly maxBytes: number;
  readonly onPiece?: (piece: Uint8Array) => void;
  readonly #context: Pick<ToolContext, 'signal'>;

  constructor(context: Pick<ToolContext, 'signal'>, maxBytes: number, onPiece?: (piece: Uint8Array) => void) {
    this.#context = context;
    this.maxBytes = maxBytes;
    if (onPiece !== undefined) this.onPiece = onPiece;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}
