/** The outline of a WebAssembly module: enough to check it without running any of it. */

export interface ModuleOutline {
  readonly exports: readonly string[];
  /** Names of functions it wants to be given. */
  readonly wantedFunctions: readonly string[];
  readonly isLinkable: boolean;
}

interface Entry {
  readonly module: string;
  readonly name: string;
  readonly kind: string;
}

/** Declared here because the compiler's library has it only together with the whole browser. */
interface WebAssemblyApi {
  readonly Module: {
    new (bytes: Uint8Array): object;
    exports(module: object): readonly Entry[];
    imports(module: object): readonly Entry[];
    customSections(module: object, name: string): readonly unknown[];
  };
}

/** Throws what the engine throws for bytes that are no valid module. */
export function readModule(bytes: Uint8Array): ModuleOutline {
  const { Module } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
  const module = new Module(bytes);
  return {
    exports: Module.exports(module).map((entry) => entry.name),
    wantedFunctions: Module.imports(module)
      .filter((entry) => entry.kind === 'function' || entry.module === 'GOT.func')
      .map((entry) => entry.name),
    isLinkable: Module.customSections(module, 'dylink.0').length > 0,
  };
}
