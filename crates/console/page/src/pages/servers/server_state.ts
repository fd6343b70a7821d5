// The state of a server in words.

import type { Identity, ServerSnapshot, ServerState, ServerTransport } from "../../api/types";
import { relative } from "../../text/format";

export type DotTone = "ok" | "warn" | "bad" | "busy" | "off";

export function dotOf(state: ServerState): DotTone {
  switch (state.type) {
    case "ready":
      return "ok";
    case "degraded":
    case "backingOff":
    case "needsAuth":
    case "awaitingApproval":
      return "warn";
    case "failed":
      return "bad";
    case "starting":
      return "busy";
    default:
      return "off";
  }
}

export function stateName(state: ServerState): string {
  const names: Record<ServerState["type"], string> = {
    disabled: "disabled",
    awaitingApproval: "waits for approval",
    asleep: "starts with the first call",
    starting: "connecting",
    ready: "connected",
    degraded: "connected, with a problem",
    backingOff: "waiting to retry",
    needsAuth: "needs a login",
    failed: "failed",
    stopped: "disconnected",
  };
  return names[state.type];
}

/** The sentence under the name: what is wrong, if anything. */
export function stateDetail(state: ServerState, nowMs: number): { error: string; nextStep: string | null } | null {
  switch (state.type) {
    case "degraded":
    case "failed":
      return { error: state.error, nextStep: state.nextStep };
    case "backingOff":
      return { error: `${state.error} (${state.attempt} in a row; next attempt ${relative(state.untilMs, nowMs)})`, nextStep: state.nextStep };
    case "needsAuth":
      return { error: "The server requires a login.", nextStep: state.login.nextStep };
    case "awaitingApproval":
      return { error: "Its configuration was not approved, so it is not started.", nextStep: `Run ${state.command}` };
    default:
      return null;
  }
}

export function transportText(transport: ServerTransport): string {
  switch (transport.type) {
    case "stdio":
      return transport.command.join(" ");
    case "http":
      return transport.url;
    case "inProcess":
      return "in this process";
  }
}

export function transportName(transport: ServerTransport): string {
  return { stdio: "program", http: "HTTP", inProcess: "in process" }[transport.type];
}

export function identityText(identity: Identity): string {
  switch (identity.type) {
    case "none":
      return "no credentials";
    case "oauth":
      return `${identity.account} by ${identity.issuer}`;
    case "headers":
      return `configured headers: ${identity.names.join(", ")}`;
    case "headersHelper":
      return `headers from ${identity.command}`;
    case "environment":
      return `environment: ${identity.names.join(", ")}`;
    case "process":
      return `runs as ${identity.user}`;
    case "perCaller":
      return identity.description;
    case "unknown":
      return identity.reason;
  }
}

/** What a screen reader says of a server's row. */
export function serverLabel(server: ServerSnapshot): string {
  const session = server.session === null ? "" : `, ${server.session.era} ${server.session.revision}`;
  return `${server.name}, ${stateName(server.state)}${session}, ${server.counts.tools} tools`;
}
