/** What a run found wrong: all are counted, the first ones are kept word by word. */
const KEPT = 12;

export class Problems {
  readonly first: string[] = [];
  count = 0;

  add(problem: string): void {
    this.count += 1;
    if (this.first.length < KEPT) this.first.push(problem);
  }
}
