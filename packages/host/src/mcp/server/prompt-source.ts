/** One prompt an MCP server offers. */
import type { GetPromptResult, InputRequiredResult, Prompt, ServerContext } from '@modelcontextprotocol/server';

export interface PromptSource {
  readonly prompt: Prompt;
  /** May ask back; the answers come with the next request, in `ctx.mcpReq.inputResponses`. */
  get(
    args: Readonly<Record<string, string>>,
    ctx: ServerContext,
  ): Promise<GetPromptResult | InputRequiredResult> | GetPromptResult | InputRequiredResult;
  complete?(argument: string, value: string): readonly string[] | Promise<readonly string[]>;
}
