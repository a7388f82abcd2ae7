/** How the protocol names a machine: Go's words for system and processor, `linux/amd64`. */

const SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows', sunos: 'solaris' };
const PROCESSORS: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export interface Machine {
  /** `process.platform` and `process.arch`. */
  readonly platform: string;
  readonly arch: string;
}

export function platformKey({ platform, arch }: Machine): string {
  return `${SYSTEMS[platform] ?? platform}/${PROCESSORS[arch] ?? arch}`;
}
