/** A small server on the newest revision: one tool that answers, one that asks in the middle of a call. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export function createModernTools(): McpServer {
  const server = new McpServer({ name: 'modern', version: '1.0.0' });
  server.registerTool(
    'add',
    {
      title: 'Add',
      description: 'Adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    'greet',
    { description: 'Greets somebody it asks for', inputSchema: z.object({ word: z.string() }) },
    ({ word }, { mcpReq }) => {
      const given = mcpReq.inputResponses?.['who'] as { action: string; content?: { name?: string } } | undefined;
      if (given === undefined) {
        return inputRequired({
          inputRequests: {
            who: inputRequired.elicit({
              message: 'Who is it?',
              requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
            }),
          },
          requestState: 'kept by the client',
        });
      }
      const name = given.action === 'accept' ? given.content?.name : `nobody (${given.action})`;
      return { content: [{ type: 'text', text: `${word} ${name}` }] };
    },
  );
  server.registerTool(
    'trace',
    { description: 'Says which trace it is part of', inputSchema: z.object({}) },
    (_args, { mcpReq }) => {
      const { traceparent, tracestate } = (mcpReq._meta ?? {}) as { traceparent?: unknown; tracestate?: unknown };
      return { content: [{ type: 'text', text: JSON.stringify({ traceparent, tracestate }) }] };
    },
  );
  return server;
}
