/** What an embedding program may say to `createAst`. Apart from the engine, whose types would come along with it. */
export interface AstOptions {
  /** Processes for bulk parsing. Default 2. */
  readonly workers?: 1 | 2;
  /** Keep the index in memory only. */
  readonly inMemory?: boolean;
  /** Language servers at once. Default 4. */
  readonly maxServers?: number;
  /** How long a question waits for the first index before it answers with what is there so far. Default 3000. */
  readonly firstAnswerMs?: number;
}
