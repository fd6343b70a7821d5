// A `switchboard console` of its own: its home, its configuration, its process, and a client of its API.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Snapshot } from "../../page/src/api/types.ts";
import { programs } from "./environment.ts";
import { ProbeLog } from "./probe_log.ts";
import { until } from "./wait.ts";

export interface ConsoleOptions {
  /** Members of the configuration file. */
  config?: object;
  /** Arguments after `switchboard`; `console` with its flags by default. */
  args?: string[];
  env?: Record<string, string>;
  home?: string;
}

interface Ready {
  address: string;
  tokenFile: string;
}

export class ConsoleProcess {
  private key = "";
  private firstToken: string | null;
  stderr = "";

  private constructor(
    readonly home: string,
    readonly address: string,
    token: string,
    private readonly child: ChildProcess,
  ) {
    this.firstToken = token;
  }

  /** Starts a console and waits for its address. */
  static async start(options: ConsoleOptions = {}): Promise<ConsoleProcess> {
    const home = options.home ?? newHome();
    if (options.config !== undefined) writeConfig(home, options.config);
    const child = spawn(programs.switchboard, options.args ?? ["console", "--no-open", "--json"], {
      cwd: join(home, "project"),
      env: { PATH: process.env["PATH"] ?? "", HOME: home, XDG_RUNTIME_DIR: join(home, "run"), LANG: "C.UTF-8", ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout!.on("data", (data: Buffer) => (out += data.toString()));
    child.stderr!.on("data", (data: Buffer) => {
      err = (err + data.toString()).slice(-100_000);
      if (started !== null) started.stderr = err;
    });
    let started: ConsoleProcess | null = null;
    const ready = await until("the address of the console", () => {
      if (child.exitCode !== null) throw new Error(`the console ended with ${child.exitCode}:\n${err}`);
      return readyOf(out) ?? gatewayOf(err);
    }, 20_000);
    // A gateway names a page that leads to the console, with the token in its address.
    const text = readFileSync(ready.tokenFile, "utf8");
    const token = /#token=([A-Za-z0-9_-]+)/.exec(text)?.[1] ?? text.trim();
    started = new ConsoleProcess(home, ready.address, token, child);
    started.stderr = err;
    return started;
  }

  get pid(): number {
    return this.child.pid!;
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  get configFile(): string {
    return configFileOf(this.home);
  }

  /** The configuration as it is on disk. */
  config(): { mcpServers: Record<string, Record<string, unknown>> } {
    return JSON.parse(readFileSync(this.configFile, "utf8"));
  }

  probeLog(name = "probe"): ProbeLog {
    return new ProbeLog(join(this.home, `${name}.log`));
  }

  /** Returns an address that opens the page once. */
  async pageUrl(): Promise<string> {
    return `${this.address}/#token=${await this.newToken()}`;
  }

  async newToken(): Promise<string> {
    await this.authorize();
    const { token } = (await this.post("/api/token", {})) as { token: string };
    return token;
  }

  private async authorize(): Promise<void> {
    if (this.firstToken === null) return;
    const token = this.firstToken;
    this.firstToken = null;
    const { key } = (await this.post("/api/key", { token })) as { key: string };
    this.key = key;
  }

  async apiKey(): Promise<string> {
    await this.authorize();
    return this.key;
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    await this.authorize();
    return fetch(this.address + path, {
      method,
      headers: {
        ...(this.key === "" ? {} : { Authorization: `Bearer ${this.key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async post(path: string, body: unknown): Promise<unknown> {
    const response = await this.request("POST", path, body);
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async snapshot(): Promise<Snapshot> {
    return (await this.request("GET", "/api/snapshot")).json() as Promise<Snapshot>;
  }

  async server(name: string): Promise<Snapshot["servers"][number]> {
    const found = (await this.snapshot()).servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`the console has no server ${name}`);
    return found;
  }

  /** Waits until a server is in a state. */
  async untilState(name: string, state: string, timeoutMs = 20_000): Promise<void> {
    let last: unknown = null;
    await until(`the server ${name} to be ${state}`, async () => {
      last = (await this.snapshot()).servers.find((server) => server.name === name)?.state;
      return (last as { type: string } | undefined)?.type === state;
    }, timeoutMs).catch((error: Error) => {
      throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
    });
  }

  isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends the process and waits for it; kills it if it does not end. */
  async end(): Promise<void> {
    if (this.isRunning()) {
      this.child.kill("SIGTERM");
      await until("the console to end", () => !this.isRunning(), 8000).catch(() => this.child.kill("SIGKILL"));
    }
  }

  /** Ends the process and removes its home. */
  async stop(): Promise<void> {
    await this.end();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function readyOf(out: string): Ready | null {
  try {
    const { address, tokenFile } = JSON.parse(out) as Ready;
    return { address: address.replace(/\/$/, ""), tokenFile };
  } catch {
    return null;
  }
}

function gatewayOf(err: string): Ready | null {
  const found = /the console is at (http:\/\/[^\s;]+); open this file in a browser within \d+ s: (\S+)/.exec(err);
  return found === null ? null : { address: found[1]!.replace(/\/$/, ""), tokenFile: found[2]! };
}

/** Creates a home with a project inside. */
export function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "switchboard-e2e-"));
  for (const folder of ["project", "run"]) mkdirSync(join(home, folder), { mode: 0o700 });
  return home;
}

export function configFileOf(home: string): string {
  return join(home, ".config/switchboard/mcp.json");
}

export function writeConfig(home: string, config: object): void {
  mkdirSync(dirname(configFileOf(home)), { recursive: true });
  writeFileSync(configFileOf(home), JSON.stringify(config, null, 2));
}
