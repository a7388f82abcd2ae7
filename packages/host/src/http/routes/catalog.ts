/** Every route, by subject. */
export { answerApproval, listApprovals } from './approvals.ts';
export { call, callState, proposePlan } from './calls.ts';
export { detachChild, listChildren, openChild } from './children.ts';
export { commandCall } from './command-call.ts';
export { events } from './events.ts';
export { asyncapi, drain, healthz, metrics, openapi, readyz, status } from './operations.ts';
export { closeSession, listSessions, openSession, showSession } from './sessions.ts';
export { listTools, toolsOpenapi } from './tools.ts';
