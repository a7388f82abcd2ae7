/** The traits of HTTP, for every client: requests and a stream of events beside them. */
import type { Traits } from '../transport.ts';

export const HTTP_TRAITS: Traits = {
  greeting: 'request',
  streams: 'two',
  return: 'requests',
  beats: 'comments',
  sends: 'bytes',
  badBytes: 'refusal',
  farTooLarge: 'refusal',
  tokens: 'bearer',
  approvals: 'answered',
  many: 100,
  patienceMs: 1000,
};
