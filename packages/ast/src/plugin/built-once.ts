/** Made at the first use and then kept: schemas of answers, which most processes never look at. */
export function builtOnce<T>(build: () => T): () => T {
  let built: { readonly value: T } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}
