// Parser of an event stream that arrives in pieces.

export interface StreamEvent {
  id: number | null;
  data: string;
}

/** The longest event that is read; a longer one ends the stream with an error. */
const MAX_EVENT = 16 * 1024 * 1024;

export class EventParser {
  private rest = "";
  private data: string[] = [];
  private id: number | null = null;

  /** Returns the events that are complete with this piece. */
  push(piece: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    if (this.rest.length > MAX_EVENT) throw new Error("an event of the stream is too long");
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line !== "") {
        this.field(line);
      } else {
        if (this.data.length > 0) events.push({ id: this.id, data: this.data.join("\n") });
        this.data = [];
      }
    }
    return events;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.data.push(value);
    if (name === "id" && /^\d+$/.test(value)) this.id = Number(value);
  }
}
