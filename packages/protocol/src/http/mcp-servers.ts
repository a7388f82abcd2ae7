/** Bodies of the routes about mounted MCP servers: the state of their tools, what waits for approval, and approvals. */
import { z } from 'zod';

const workspace = z.string().max(4096).exactOptional().describe('Name or folder; the first one by default');
const digest = z.string().max(128);

export const mountedServerSchema = z
  .strictObject({
    server: z.string().describe('As the registry names it'),
    target: z.string().describe('Its command or address, with known secrets masked'),
    registry: z.string().exactOptional().describe('file:line that mounts it'),
    is_running: z.boolean(),
    tools: z
      .array(
        z.strictObject({
          tool: z.string().describe('At the server'),
          name: z.string().exactOptional().describe('In sessions; left out until the host has opened anew with it'),
          state: z
            .enum(['approved', 'new', 'changed', 'refused'])
            .describe('`new` and `changed` wait for approval and cannot be used; neither can `refused`'),
          digest: digest.exactOptional().describe('Of the approved definition'),
          reason: z.string().exactOptional().describe('Why a definition is refused'),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'MountedServer' });
export type MountedServer = Readonly<z.infer<typeof mountedServerSchema>>;

export const mountedServersSchema = z
  .strictObject({ workspace: z.string(), servers: z.array(mountedServerSchema).readonly() })
  .meta({ id: 'MountedServers' });
export type MountedServers = Readonly<z.infer<typeof mountedServersSchema>>;

export const waitingToolsSchema = z
  .strictObject({
    server: z.string(),
    total: z.int().describe('That wait; the first ones are listed'),
    waiting: z
      .array(
        z.strictObject({
          tool: z.string(),
          state: z.enum(['new', 'changed']),
          digest: digest.describe('Approve it by this'),
          diff: z.string().describe('From the approved definition to this one; all of it for a new tool'),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'WaitingTools' });
export type WaitingTools = Readonly<z.infer<typeof waitingToolsSchema>>;

export const refreshServerSchema = z.strictObject({ workspace }).meta({ id: 'RefreshServer' });

export const approveToolsSchema = z
  .strictObject({
    workspace,
    tools: z
      .array(z.strictObject({ tool: z.string().max(4096), digest }))
      .min(1)
      .max(512)
      .readonly()
      .describe('With the digests that were looked at'),
  })
  .meta({ id: 'ApproveTools' });
export type ApproveToolsBody = Readonly<z.infer<typeof approveToolsSchema>>;

export const toolsApprovedSchema = z
  .strictObject({
    server: z.string(),
    approved: z.array(z.string()).readonly().describe('Without those that were approved already'),
  })
  .meta({ id: 'ToolsApproved' });
export type ToolsApproved = Readonly<z.infer<typeof toolsApprovedSchema>>;
