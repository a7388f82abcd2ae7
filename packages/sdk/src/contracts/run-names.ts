/** The two names that become folders of a run: the tool's and the run's. Both are judged before they touch a path. */

const TOOL_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const RUN_ID = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{6}Z-\d{6}$/;

export function isExternalToolName(name: string): boolean {
  return TOOL_NAME.test(name) && !name.includes('..');
}

/** `YYYY-MM-DDTHH-MM-SS-uuuuuuZ-NNNNNN`: UTC to the microsecond, then a counter; sorts by time. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}
