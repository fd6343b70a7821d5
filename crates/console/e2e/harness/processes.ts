// Processes of the machine, read from /proc.

import { readdirSync, readFileSync } from "node:fs";

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

export interface Process {
  pid: number;
  parent: number;
  command: string[];
}

export function processes(): Process[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name): Process[] => {
    try {
      const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))![1]);
      return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").slice(0, -1) }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** All processes that a process has started, and theirs. */
export function descendants(pid: number): Process[] {
  const all = processes();
  const children = (parent: number): Process[] => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...children(one.pid)]);
  return children(pid);
}

/** Megabytes of memory that a process has resident. */
export function residentMegabytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}
