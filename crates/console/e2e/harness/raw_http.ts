// A request with headers that a browser or `fetch` would not send.

import { request } from "node:http";

export interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export function rawRequest(port: number, method: string, path: string, headers: Record<string, string> = {}, body = ""): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      let text = "";
      answer.on("data", (data: Buffer) => (text += data.toString()));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    sent.on("error", reject);
    sent.setTimeout(10_000, () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
    sent.end(body);
  });
}
