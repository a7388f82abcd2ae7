/** One place that gets the new name, in bytes of the draft as it is now. */
export interface NameEdit {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

/** Two engines speak of the same place when they change the same occurrence of the old name. */
export function placeKey({ path, start }: Pick<NameEdit, 'path' | 'start'>): string {
  return `${path}\0${start}`;
}
