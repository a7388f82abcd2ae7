/** Events announce; nothing in the runtime steers by them. */
import type { EventMessage } from '@tool-runtime/protocol';

export interface RuntimeEvent {
  /** Increasing per runtime; resume after a dropped stream by it. */
  readonly id: number;
  readonly sessionId: string;
  readonly message: EventMessage;
}
