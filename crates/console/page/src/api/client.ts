// Requests to the console's server. The key is in `sessionStorage` and goes into a header; nothing is sent to other origins.

import type { ApiError } from "./types";

const KEY = "switchboard-console-key";

/** An error response, or a server that cannot be reached (`status` 0). */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly nextStep: string | null,
  ) {
    super(message);
  }
}

/** Called when the key is no longer valid. */
let onExpired: () => void = () => {};

export function whenExpired(listener: () => void): void {
  onExpired = listener;
}

/** Takes the one-time token out of the address, and exchanges it for a key. Returns whether there is a key. */
export async function obtainKey(): Promise<boolean> {
  const token = /^#token=([A-Za-z0-9_-]+)/.exec(location.hash)?.[1];
  if (token === undefined) return sessionStorage.getItem(KEY) !== null;
  history.replaceState(null, "", location.pathname);
  const { key } = await send<{ key: string }>("POST", "/api/key", { token });
  sessionStorage.setItem(KEY, key);
  return true;
}

export function get<T>(path: string, query: Record<string, string | number | null> = {}): Promise<T> {
  const pairs = Object.entries(query).filter(([, value]) => value !== null);
  const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return send<T>("GET", text === "" ? path : `${path}?${text}`, undefined);
}

export function post<T = unknown>(path: string, body: object = {}): Promise<T> {
  return send<T>("POST", path, body);
}

/** Sends a file. */
export async function upload<T>(path: string, file: Blob): Promise<T> {
  const response = await request("POST", path, file, "application/octet-stream", {});
  return (await response.json()) as T;
}

/** Receives a file. */
export async function download(path: string, body: object): Promise<Blob> {
  const response = await request("POST", path, JSON.stringify(body), "application/json", {});
  return response.blob();
}

/** Opens the event stream after the event with this number. */
export async function openEvents(after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const headers = { Accept: "text/event-stream", "Last-Event-ID": String(after) };
  const response = await request("GET", "/api/events", undefined, null, headers, signal);
  if (response.body === null) throw new RequestError(0, "no_stream", "the event stream has no body", null);
  return response.body;
}

async function send<T>(method: string, path: string, body: object | undefined): Promise<T> {
  const response = await request(method, path, body === undefined ? undefined : JSON.stringify(body), body === undefined ? null : "application/json", {});
  return (await response.json()) as T;
}

async function request(
  method: string,
  path: string,
  body: BodyInit | undefined,
  contentType: string | null,
  extra: Record<string, string>,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const key = sessionStorage.getItem(KEY);
  const headers: Record<string, string> = { ...extra };
  if (key !== null) headers["Authorization"] = `Bearer ${key}`;
  if (contentType !== null) headers["Content-Type"] = contentType;
  let response: Response;
  try {
    response = await fetch(path, {
      method, headers, body: body ?? null, signal, cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new RequestError(0, "unreachable", "the console does not answer", "Check that `switchboard console` is still running.");
  }
  if (response.ok) return response;
  throw await errorOf(response);
}

async function errorOf(response: Response): Promise<RequestError> {
  const body = (await response.json().catch(() => null)) as ApiError | null;
  const error = new RequestError(
    response.status, body?.code ?? "error", body?.message ?? `the console answered ${response.status}`, body?.nextStep ?? null,
  );
  if (response.status === 401) {
    sessionStorage.removeItem(KEY);
    onExpired();
  }
  return error;
}
