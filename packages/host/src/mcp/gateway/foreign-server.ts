/** A mounted server as an operator sees it: which of its tools are approved, which wait, and the way to approve them. */
import { ToolError } from '@tool-runtime/protocol';
import type { ForeignServer, McpServerSettings } from '@tool-runtime/sdk';
import type { PinBook } from './pin-book.ts';
import { ownEntry, type ServerPins, type ToolPins } from './pin-file.ts';

interface ForeignServerSetting {
  readonly server: string;
  readonly settings: McpServerSettings;
  readonly pins: PinBook;
  /** Name in the runtime → name at the server. */
  readonly names: ReadonlyMap<string, string>;
  redact(text: string): string;
  isRunning(): boolean;
  refresh(): Promise<unknown>;
}

export function foreignServer(setting: ForeignServerSetting): ForeignServer {
  const { server, settings, pins, names, redact } = setting;
  const nameOf = new Map(Array.from(names, ([name, tool]) => [tool, name]));
  return {
    server,
    target: redact(settings.url ?? (settings.command ?? []).join(' ')),
    get isRunning() {
      return setting.isRunning();
    },
    tools: () => Object.entries(pins.of(server).tools).map(([tool, pin]) => ({ tool, name: nameOf.get(tool), ...pin })),
    async refresh() {
      await setting.refresh();
    },
    approve(versions) {
      let approved: readonly string[] = [];
      pins.update(server, (before) => {
        const next = approveVersions(server, before, versions);
        approved = next.approved;
        return next.pins;
      });
      return approved;
    },
  };
}

interface Approval {
  readonly pins: ServerPins;
  readonly approved: readonly string[];
}

/** What was looked at is what is approved: a version that another one has replaced since is refused. */
function approveVersions(server: string, before: ServerPins, versions: ReadonlyMap<string, string>): Approval {
  const approved: string[] = [];
  const tools = new Map(Object.entries(before.tools));
  for (const [tool, digest] of versions) {
    const pin: ToolPins = ownEntry(before.tools, tool) ?? {};
    if (pin.pending?.digest === digest) {
      approved.push(tool);
      tools.set(tool, { approved: pin.pending });
    } else if (pin.pending !== undefined || pin.approved?.digest !== digest) throw otherVersion(server, tool);
  }
  return { pins: { ...before, tools: Object.fromEntries(tools) }, approved };
}

function otherVersion(server: string, tool: string): ToolError {
  return new ToolError('E_POLICY', `This version of the tool does not wait for approval: ${server}, ${tool}`, {
    details: { gate: 'route', reason: 'definition_changed', next: 'look at what waits now, and approve that' },
  });
}
