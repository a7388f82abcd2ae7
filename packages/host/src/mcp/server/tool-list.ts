/** The tools of a backend: asked for once, and then at hand by name. */
import type { ToolListing } from '@tool-runtime/sdk';

export class ToolList {
  readonly #load: () => Promise<readonly ToolListing[]>;
  #loading: Promise<readonly ToolListing[]> | undefined;
  #byName: ReadonlyMap<string, ToolListing> | undefined;

  constructor(load: () => Promise<readonly ToolListing[]>) {
    this.#load = load;
  }

  all(): Promise<readonly ToolListing[]> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** At once where the list is there already. */
  find(name: string): ToolListing | undefined | Promise<ToolListing | undefined> {
    return this.#byName === undefined ? this.#index().then((byName) => byName.get(name)) : this.#byName.get(name);
  }

  /** Another runtime took over. */
  forget(): void {
    [this.#loading, this.#byName] = [undefined, undefined];
  }

  async #index(): Promise<ReadonlyMap<string, ToolListing>> {
    const loading = this.all();
    const byName = new Map((await loading).map((listing) => [listing.name, listing]));
    if (this.#loading === loading) this.#byName = byName;
    return byName;
  }
}
