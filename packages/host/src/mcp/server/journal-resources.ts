/** What is on record about the client's own calls. Others' records are not shown. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { Runtime } from '@tool-runtime/sdk';
import type { ResourceSource } from './resource-source.ts';

const PREFIX = 'tool-runtime://journal/';
const LATEST = 200;

export function journalResources(runtime: () => Promise<Runtime>): ResourceSource {
  return {
    list: ({ session }) =>
      session === undefined
        ? []
        : [
            {
              uri: `${PREFIX}session`,
              name: 'journal',
              title: 'Records of this session',
              description: `The last ${LATEST} records of the calls made here`,
              mimeType: 'application/json',
            },
          ],
    template: {
      uriTemplate: `${PREFIX}{call_id}`,
      name: 'journal-call',
      title: 'Records of one call',
      description: 'Request, decisions, intent and result of a call of this session',
      mimeType: 'application/json',
    },
    read(uri, { session }) {
      if (!uri.startsWith(PREFIX) || session === undefined) return undefined;
      return readRecords(uri, session.id, runtime);
    },
  };
}

async function readRecords(
  uri: string,
  sessionId: string,
  runtime: () => Promise<Runtime>,
): Promise<ReadResourceResult> {
  const callId = uri.slice(PREFIX.length);
  const opened = await runtime();
  const filter = callId === 'session' ? { sessionId } : { sessionId, callId };
  const records = [...opened.records(filter)].slice(-LATEST);
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(records) }] };
}
