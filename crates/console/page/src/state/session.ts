// The session of the page: takes a snapshot, follows the event stream, and reconnects when it is lost.

import { get, obtainKey, openEvents, RequestError, whenExpired } from "../api/client";
import { EventParser } from "../api/sse";
import type { ConsoleEvent, Snapshot, TrafficPage } from "../api/types";
import { apply, type ConsoleState, fromSnapshot } from "./console_state";
import { Store } from "./store";
import { Traffic } from "./traffic";

export type Connection =
  | { type: "connecting" }
  | { type: "live" }
  | { type: "lost"; retryAtMs: number }
  /** There is no key: the console has to be opened again. */
  | { type: "locked"; reason: "none" | "expired" | "refused" };

const DELAYS = [500, 1000, 2000, 4000, 8000];
const PAGE_OF_FRAMES = 2000;

export const connection = new Store<Connection>({ type: "connecting" });
export const consoleState = new Store<ConsoleState | null>(null);
export const traffic = new Traffic(10_000, (run) => requestAnimationFrame(run));

let lastEvent = 0;
/** The first frame of the stream since the last snapshot: frames before it have to be fetched. */
let firstLiveFrame: number | null = null;

/** Runs until the key is no longer valid. */
export async function run(): Promise<void> {
  whenExpired(() => connection.set({ type: "locked", reason: "expired" }));
  try {
    if (!(await obtainKey())) return connection.set({ type: "locked", reason: "none" });
  } catch (error) {
    // After many failures others are not looked at for a while: 429.
    const refused = error instanceof RequestError && (error.status === 401 || error.status === 429);
    return connection.set({ type: "locked", reason: refused ? "refused" : "none" });
  }
  for (let failures = 0; !isLocked(); failures++) {
    try {
      await takeSnapshot();
      await follow(() => (failures = 0));
    } catch (error) {
      if (!(error instanceof RequestError)) console.error(error);
    }
    if (isLocked()) return;
    await pause(DELAYS[Math.min(failures, DELAYS.length - 1)]!);
  }
}

/** Calls once there is a state or the page is locked, and after a time at the latest. */
export function whenSettled(latestMs: number, callback: () => void): void {
  let isDone = false;
  const settle = () => {
    if (isDone) return;
    isDone = true;
    for (const end of ends) end();
    callback();
  };
  const timer = setTimeout(settle, latestMs);
  const ends = [consoleState.subscribe(settle), connection.subscribe(() => connection.get().type !== "connecting" && settle()), () => clearTimeout(timer)];
}

function isLocked(): boolean {
  return connection.get().type === "locked";
}

async function pause(delay: number): Promise<void> {
  connection.set({ type: "lost", retryAtMs: Date.now() + delay });
  await new Promise((resolve) => setTimeout(resolve, delay));
}

async function takeSnapshot(): Promise<void> {
  const snapshot = await get<Snapshot>("/api/snapshot");
  lastEvent = snapshot.sequence;
  traffic.setLimit(snapshot.console.limits.maxFrames);
  consoleState.update((before) => fromSnapshot(snapshot, before));
  firstLiveFrame = null;
  // As it is now: frames of the stream may arrive before those that it follows are fetched.
  const lastFrame = traffic.lastFrame;
  // After the page was drawn. A request that fails is made again with the next snapshot.
  setTimeout(() => fetchFrames(lastFrame).catch((error: unknown) => {
    if (!(error instanceof RequestError)) console.error(error);
  }), 50);
}

/** Fetches the frames that the page lacks, up to those of the stream. */
async function fetchFrames(after: number): Promise<void> {
  for (;;) {
    const page = await get<TrafficPage>("/api/traffic", { after, limit: PAGE_OF_FRAMES });
    traffic.add(page.frames, page.totals);
    const last = page.frames.at(-1)?.frame;
    if (!page.hasMore || last === undefined || (firstLiveFrame !== null && last >= firstLiveFrame - 1)) return;
    after = last;
  }
}

async function follow(onOpen: () => void): Promise<void> {
  const abort = new AbortController();
  const body = await openEvents(lastEvent, abort.signal);
  onOpen();
  connection.set({ type: "live" });
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const parser = new EventParser();
  try {
    for (;;) {
      const { value, done } = await read(reader);
      if (done) return;
      for (const event of parser.push(value)) {
        if (event.id !== null && event.id <= lastEvent) continue;
        if (event.id !== null) lastEvent = event.id;
        await receive(JSON.parse(event.data) as ConsoleEvent);
      }
    }
  } finally {
    abort.abort();
  }
}

async function read(reader: ReadableStreamDefaultReader<string>): Promise<ReadableStreamReadResult<string>> {
  try {
    return await reader.read();
  } catch {
    throw new RequestError(0, "unreachable", "the event stream was lost", null);
  }
}

async function receive(event: ConsoleEvent): Promise<void> {
  if (event.type === "gap") return takeSnapshot();
  if (event.type === "frames") {
    firstLiveFrame ??= event.frames[0]?.frame ?? null;
    return traffic.add(event.frames, event.totals);
  }
  if (event.type === "trafficCleared") return traffic.clear(event.totals);
  consoleState.update((state) => (state === null ? state : apply(state, event)));
}
