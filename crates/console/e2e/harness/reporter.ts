// Prints failures as they happen, and at the end the measurements and the counts.

import type { FullResult, Reporter, TestCase, TestResult } from "@playwright/test/reporter";

const MEASURED = "measured";

export default class Summary implements Reporter {
  private passed = 0;
  private failed = 0;
  private skipped = 0;
  private readonly measured: string[] = [];
  private readonly start = Date.now();

  onTestEnd(test: TestCase, result: TestResult): void {
    const name = test.titlePath().slice(2).filter((part) => part !== "").join(" › ");
    for (const { type, description } of result.annotations) if (type === MEASURED) this.measured.push(description ?? "");
    if (result.status === "skipped") {
      this.skipped++;
    } else if (result.status === test.expectedStatus) {
      this.passed++;
      if (process.env["SWITCHBOARD_E2E_VERBOSE"] !== undefined) console.log(`ok ${(result.duration / 1000).toFixed(1)} s  ${name}`);
    } else {
      this.failed++;
      console.log(`\nFAILED ${name} (${(result.duration / 1000).toFixed(1)} s)`);
      for (const error of result.errors) console.log(indent(error.stack ?? error.message ?? String(error.value)));
      for (const { name: file, path } of result.attachments) if (path !== undefined) console.log(`    ${file}: ${path}`);
    }
  }

  onError(error: { message?: string; stack?: string }): void {
    console.log(indent(error.stack ?? error.message ?? "unknown error"));
  }

  onStdOut(chunk: string | Buffer): void {
    process.stdout.write(chunk);
  }

  onStdErr(chunk: string | Buffer): void {
    process.stderr.write(chunk);
  }

  onEnd(result: FullResult): void {
    if (this.measured.length > 0) console.log(`\nmeasured:\n${this.measured.map((line) => `  ${line}`).join("\n")}`);
    if (result.status !== "passed" && this.failed === 0) console.log(`\nthe run ended early: ${result.status}`);
    console.log(`\n${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped, in ${((Date.now() - this.start) / 1000).toFixed(0)} s`);
  }

  printsToStdio(): boolean {
    return true;
  }
}

function indent(text: string): string {
  return text.replace(/\u001b\[[0-9;]*m/g, "").split("\n").slice(0, 40).map((line) => `    ${line}`).join("\n");
}
