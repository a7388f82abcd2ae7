/** The port of source formatters: text in, text out. Nothing is written, so a failure costs nothing. */

export interface FormatRequest {
  /** Workspace-relative; formatters choose rules and read configuration by it. */
  readonly path: string;
  readonly language: string;
  readonly bytes: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

export interface Formatter {
  /** What would format this file, for people; undefined when nothing does. */
  formatterOf(path: string, language: string): Promise<string | undefined>;
  /** Throws when the formatter fails or does not accept the text. */
  format(request: FormatRequest): Promise<Uint8Array>;
}
