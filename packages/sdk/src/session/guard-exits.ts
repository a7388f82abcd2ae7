/** Everything through which something leaves a session, behind its one redactor. */
import type { ToolError } from '@tool-runtime/protocol';
import { createArgsSummarizer } from '../journal/summarize-args.ts';
import { redactError } from '../redaction/redact-error.ts';
import { redactingArtifacts, redactingEvents, redactingJournal } from '../redaction/redacting-ports.ts';
import type { Redactor } from '../redaction/redactor.ts';
import type { RuntimeParts } from './compile-session.ts';

type Exits = Pick<RuntimeParts, 'journal' | 'events' | 'artifacts' | 'reportUnexpected'>;

export function guardExits(redactor: Redactor, runtime: Exits) {
  return {
    redactor,
    redact: redactor.redactText,
    summarizeArgs: createArgsSummarizer(redactor),
    journal: redactingJournal(runtime.journal, redactor),
    events: redactingEvents(runtime.events, redactor),
    artifacts: redactingArtifacts(runtime.artifacts, redactor),
    reportUnexpected: (error: ToolError) => runtime.reportUnexpected(redactError(error, redactor)),
  };
}
