/** The Agent Client Protocol: calls, statuses, places, diffs and permissions both ways. No SDK is needed or loaded. */
export {
  type AcpCall,
  type AcpOptions,
  type AcpPhase,
  fromAcpKind,
  fromAcpLocations,
  fromAcpStatus,
  toAcpProgress,
  toAcpResult,
  toAcpStatus,
  toAcpToolCall,
  type WorkspacePlace,
} from './acp-call.ts';
export type { TextChange } from './acp-diffs.ts';
export {
  type AcpApprovalsOptions,
  type AcpPermissionOptions,
  acpApprovals,
  acpPermissionOptions,
  fromAcpPermission,
  toAcpPermissionRequest,
} from './acp-permission.ts';
export {
  ACP_SWITCH_MODE,
  type AcpContent,
  type AcpDiff,
  type AcpLocation,
  type AcpOptionKind,
  type AcpPermissionOption,
  type AcpPermissionOutcome,
  type AcpPermissionRequest,
  type AcpStatus,
  type AcpText,
  type AcpToolCall,
  type AcpToolCallUpdate,
} from './acp-types.ts';
