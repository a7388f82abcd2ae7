/** Options of a read whose cancel signal is looked at only when the file is large: asking for it makes one. */
import type { ToolContext } from '../../../contracts/tool.ts';
import type { ReadOptions } from '../../../contracts/workspace.ts';

export class LazyReadOptions implements ReadOptions {
  readonly maxBytes: number;
  readonly onPiece?: (piece: Uint8Array) => void;
  readonly isEnough?: () => boolean;
  readonly #context: Pick<ToolContext, 'signal'>;

  constructor(
    context: Pick<ToolContext, 'signal'>,
    maxBytes: number,
    { onPiece, isEnough }: Pick<ReadOptions, 'onPiece' | 'isEnough'> = {},
  ) {
    this.#context = context;
    this.maxBytes = maxBytes;
    if (isEnough !== undefined) this.isEnough = isEnough;
    if (onPiece !== undefined) this.onPiece = onPiece;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}
