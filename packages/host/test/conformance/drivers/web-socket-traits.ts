/** What every WebSocket has in common; clients differ in what they let a test send. */
import type { Traits } from '../transport.ts';

export const WEB_SOCKET_TRAITS: Traits = {
  greeting: 'acknowledgement',
  streams: 'one',
  return: 'attach',
  beats: 'heartbeats',
  sends: 'text',
  badBytes: 'end',
  farTooLarge: 'end',
  tokens: 'bearer',
  approvals: 'answered',
  many: 200,
  patienceMs: 1000,
};
