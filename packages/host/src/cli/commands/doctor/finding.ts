/** One line of the doctor. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly message: string;
}
