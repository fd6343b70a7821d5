// A proxy between the browser and the console whose connections can be cut.

import { type AddressInfo, type Socket } from "node:net";
import { createServer, request, type Server } from "node:http";

export class Proxy {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  /** Paths that were requested, with the `Last-Event-ID` of streams. */
  readonly requests: { path: string; lastEvent: string | null }[] = [];

  private constructor(private readonly server: Server, private readonly target: number) {
    server.on("connection", (socket) => {
      if (this.isCut) return socket.destroy();
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    server.on("request", (incoming, outgoing) => {
      this.requests.push({ path: incoming.url ?? "", lastEvent: (incoming.headers["last-event-id"] as string | undefined) ?? null });
      const own = `127.0.0.1:${this.port}`;
      const other = `127.0.0.1:${this.target}`;
      const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, typeof value === "string" ? value.replaceAll(own, other) : value]));
      const forwarded = request({ host: "127.0.0.1", port: this.target, path: incoming.url, method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      forwarded.on("error", () => outgoing.destroy());
      outgoing.on("close", () => forwarded.destroy());
      incoming.pipe(forwarded);
    });
  }

  static async start(target: number): Promise<Proxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Proxy(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Cuts all connections, and refuses others. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  restore(): void {
    this.isCut = false;
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
