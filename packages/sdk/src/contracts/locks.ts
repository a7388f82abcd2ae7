/** Write locks by file identity. Readers take none: a read may see the old file, never half of one. */
export interface LockOwner {
  readonly callId: string;
  readonly tool: string;
  readonly sessionId: string;
}

export interface LockTable {
  /** Waits for all keys, taken in sorted order. Throws E_TIMEOUT naming the owner, or the signal's cancellation. */
  acquire(request: {
    readonly keys: readonly string[];
    readonly owner: LockOwner;
    readonly waitMs: number;
    readonly signal: AbortSignal;
  }): Promise<() => void> | (() => void);
  held(): readonly { readonly key: string; readonly owner: LockOwner }[];
}
