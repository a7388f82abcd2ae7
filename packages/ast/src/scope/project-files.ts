/** The files of a workspace as the resolver sees them. Nothing outside of it exists. */
export interface ProjectFiles {
  exists(path: string): boolean;
  read(path: string): Uint8Array | undefined;
  /** Every file, workspace-relative with forward slashes. */
  list(): readonly string[];
}
