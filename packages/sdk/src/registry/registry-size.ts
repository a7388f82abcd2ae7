/** Size of the largest registry. In a file of its own, so that asking for it does not load the YAML reader. */
export const MAX_REGISTRY_BYTES = 65_536;
