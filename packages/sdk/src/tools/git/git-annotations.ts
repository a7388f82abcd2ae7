/** What the git tools say about themselves, level by level. */
import type { ToolAnnotationsInput } from '../../contracts/annotations.ts';

/** Looks at the repository. */
export const READ_GIT: ToolAnnotationsInput = {
  kind: 'read',
  side_effect_level: 'read_only',
  capabilities: { git: ['read'] },
};

/** Changes index, work tree or history on this machine. */
export const WRITE_GIT: ToolAnnotationsInput = {
  kind: 'edit',
  side_effect_level: 'workspace_write',
  capabilities: { git: ['write'] },
};

/** Talks to a remote. */
export const REMOTE_GIT: ToolAnnotationsInput = {
  kind: 'execute',
  side_effect_level: 'network',
  capabilities: { git: ['remote'] },
  inline_result: true,
};

/** Every verb that writes takes it: git's own lock files would make the second one fail instead of wait. */
export const GIT_LOCKS: readonly string[] = ['git'];
