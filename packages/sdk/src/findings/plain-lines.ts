/**
 * Printed output as lines a pattern can be held against: no colours, no hyperlinks, no control characters.
 *
 * A lone carriage return ends a line too, because progress bars overwrite themselves with it.
 */

/** CSI, OSC (never past its line), and the two- and three-character sequences. Each alternative reads forward only. */
const ESCAPES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u009b[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\r\n]*(?:\u0007|\u001b\\)?|\u001b[ -/]+[0-~]|\u001b[0-Z\\^-~]/g;
const LINE_ENDS = /\r\n|\r|\n/;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
/** Longer ones are minified code or data, never a finding's own line. */
const MAX_LINE = 4096;

export function plainLines(output: string): readonly string[] {
  return output
    .replace(ESCAPES, '')
    .split(LINE_ENDS)
    .map((line) => line.slice(0, MAX_LINE).replace(CONTROLS, '').trimEnd());
}
