// The least that a page like the console has to do, served by Node: how fast this machine can be.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const HTML = `<!doctype html><meta charset="utf-8"><title>Floor</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script><div id="app"></div>`;

// As the console: a key, then a snapshot, then a list.
const SCRIPT = `
await (await fetch("/key", { method: "POST", body: "{}" })).json();
const rows = await (await fetch("/snapshot")).json();
const list = document.createElement("ul");
for (const text of rows) {
  const row = document.createElement("li");
  row.className = "server-row";
  row.textContent = text;
  list.append(row);
}
document.getElementById("app").append(list);
`;

/** A page that fetches twice and draws a list. */
export class FloorPage {
  private constructor(private readonly server: Server, readonly address: string) {}

  static async start(): Promise<FloorPage> {
    const files: Record<string, [string, string]> = {
      "/": ["text/html", HTML],
      "/page.js": ["text/javascript", SCRIPT],
      "/key": ["application/json", "{}"],
      "/icon.svg": ["image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`],
      "/snapshot": ["application/json", JSON.stringify(["one", "two", "three"])],
    };
    const server = createServer((request, response) => {
      const file = files[request.url ?? ""];
      if (file === undefined) return void response.writeHead(404).end();
      response.writeHead(200, { "Content-Type": file[0], "Cache-Control": "no-store" }).end(file[1]);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new FloorPage(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
