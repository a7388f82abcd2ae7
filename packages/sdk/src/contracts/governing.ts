/** Files and folders that decide what tools may do. The runtime protects them, wherever they are stored. */
export interface GoverningPlace {
  /** Absolute. */
  readonly path: string;
  /**
   * The most that tools may do with it. `git`: read it, and change it by git verbs alone, because git owns it or because a
   * changed content counts only once it is trusted again. `read`: read it. `none`: not even that.
   */
  readonly access: 'git' | 'read' | 'none';
}
