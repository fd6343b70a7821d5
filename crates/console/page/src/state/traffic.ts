// The frames that the page knows: a bounded list that grows at its end. Listeners hear of changes once per animation frame.

import type { Frame, TrafficTotals } from "../api/types";

export class Traffic {
  private list: Frame[] = [];
  private readonly listeners = new Set<() => void>();
  private scheduled = false;
  /** Increased with every change. */
  version = 0;
  totals: TrafficTotals = { frames: 0, bytes: 0, firstFrame: 1, recording: true };

  constructor(
    private maxFrames: number,
    private readonly schedule: (run: () => void) => void,
  ) {}

  setLimit(maxFrames: number): void {
    this.maxFrames = maxFrames;
  }

  get frames(): readonly Frame[] {
    return this.list;
  }

  get lastFrame(): number {
    return this.list.at(-1)?.frame ?? 0;
  }

  /** Adds frames in order; those that are known already are ignored. Older ones, which are fetched, go before live ones. */
  add(frames: readonly Frame[], totals: TrafficTotals): void {
    this.totals = totals;
    if (frames.length > 0) {
      const all = merge(this.list, frames);
      // Frames that the server has dropped cannot be opened any more.
      const dropped = all.findIndex((frame) => frame.frame >= totals.firstFrame);
      this.list = all.slice(Math.max(dropped < 0 ? all.length : dropped, all.length - this.maxFrames));
    }
    this.changed();
  }

  clear(totals: TrafficTotals): void {
    this.list = [];
    this.totals = totals;
    this.changed();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private changed(): void {
    this.version++;
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => {
      this.scheduled = false;
      for (const listener of [...this.listeners]) listener();
    });
  }
}

function merge(known: readonly Frame[], added: readonly Frame[]): Frame[] {
  const last = known.at(-1)?.frame ?? 0;
  if (added[0]!.frame > last) return known.concat(added);
  const merged: Frame[] = [];
  let [at, next] = [0, 0];
  while (at < known.length || next < added.length) {
    const [own, other] = [known[at], added[next]];
    if (other === undefined || (own !== undefined && own.frame <= other.frame)) {
      if (own!.frame === other?.frame) next++;
      merged.push(own!);
      at++;
    } else {
      merged.push(other);
      next++;
    }
  }
  return merged;
}
