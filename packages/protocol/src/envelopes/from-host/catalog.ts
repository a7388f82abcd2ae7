/** Every envelope that a host sends, apart from the heartbeat, which goes both ways and is among those of the client. */
export { type BatchResponse, batchResponseSchema } from './batch-response.ts';
export { type ChildAck, childAckSchema } from './child-ack.ts';
export { type ChildEnded, childEndedSchema } from './child-ended.ts';
export { type ErrorMessage, errorMessageSchema } from './error-message.ts';
export { type EventMessage, eventMessageSchema } from './event-message.ts';
export { type SessionAck, sessionAckSchema } from './session-ack.ts';
export { type ToolResponse, toolResponseSchema } from './tool-response.ts';
