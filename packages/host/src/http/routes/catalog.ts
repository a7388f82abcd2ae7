/** Every route, by subject. */
export { answerApproval, listApprovals } from './approvals.ts';
export { call, callState, proposePlan } from './calls.ts';
export { reportChild, takeChild } from './child-work.ts';
export { detachChild, listChildren, openChild } from './children.ts';
export { commandCall } from './command-call.ts';
export { consoleLink, consoleSession, consoleSignIn, consoleSignOut } from './console.ts';
export { events } from './events.ts';
export { showFleet } from './fleet.ts';
export { activity, metricsHistory, showRegistry } from './insight.ts';
export { approveTools, listMcpServers, listWaitingTools, refreshMcpServer } from './mcp-servers.ts';
export { asyncapi, drain, healthz, metrics, openapi, readyz, status } from './operations.ts';
export { checkPolicy, diffPolicy, explainPolicy, simulatePolicy, suggestPolicy } from './policy.ts';
export {
  exportRecords,
  journalState,
  listCalls,
  listFamilies,
  listRecords,
  showCall,
  verifyJournal,
} from './records.ts';
export { closeSession, listSessions, openSession, showSession } from './sessions.ts';
export { listTools, toolsOpenapi } from './tools.ts';
