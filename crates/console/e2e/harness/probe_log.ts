// The log that the probe writes itself: every message it received, and what it did.

import { existsSync, readFileSync } from "node:fs";
import { until } from "./wait.ts";

export interface ProbeEntry {
  /** `received`, or what the probe did, such as `cancelled`. */
  event: string;
  pid: number;
  /** The message exactly as it was on the pipe. */
  line?: string;
  message?: { method?: string; params?: Record<string, any>; result?: any; error?: any; id?: unknown };
  [more: string]: unknown;
}

export class ProbeLog {
  constructor(private readonly path: string) {}

  entries(): ProbeEntry[] {
    if (!existsSync(this.path)) return [];
    // What follows the last line break is being written.
    const lines = readFileSync(this.path, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as ProbeEntry);
  }

  /** The number of entries, for `after`. */
  mark(): number {
    return this.entries().length;
  }

  /** Waits for an entry after a mark. */
  find(what: string, matches: (entry: ProbeEntry) => boolean, after = 0): Promise<ProbeEntry> {
    return until(`${what} in the log of the probe`, () => this.entries().slice(after).find(matches));
  }

  /** Waits for a call of a tool after a mark. */
  call(tool: string, after = 0): Promise<ProbeEntry> {
    return this.find(`a call of ${tool}`, (entry) => entry.message?.method === "tools/call" && entry.message.params?.["name"] === tool, after);
  }
}
