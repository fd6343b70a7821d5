// A program that runs during a test, with its output.

import { spawn } from "node:child_process";
import { until } from "./wait.ts";

export class Program {
  output = "";
  private constructor(private readonly child: ReturnType<typeof spawn>) {
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data: Buffer) => (this.output += data.toString()));
  }

  static start(command: string, args: string[], env: Record<string, string> = {}, cwd?: string): Program {
    return new Program(spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env }, ...(cwd === undefined ? {} : { cwd }) }));
  }

  /** Waits until the output matches, and returns the match. */
  match(what: string, pattern: RegExp): Promise<RegExpExecArray> {
    return until(what, () => pattern.exec(this.output), 15_000).catch((error: Error) => {
      throw new Error(`${error.message}; it printed:\n${this.output}`);
    });
  }

  /** Ends it, and returns its exit code. */
  async end(): Promise<number | null> {
    this.child.kill("SIGTERM");
    await this.exited();
    return this.child.exitCode;
  }

  /** Waits until it has ended by itself, and returns its exit code. */
  async exited(): Promise<number | null> {
    await until("the end of the program", () => this.child.exitCode !== null || this.child.signalCode !== null, 15_000).catch((error: unknown) => {
      this.child.kill("SIGKILL");
      throw error;
    });
    return this.child.exitCode;
  }
}
