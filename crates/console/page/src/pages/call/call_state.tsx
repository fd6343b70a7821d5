// The state of a call as a badge.

import type { CallState } from "../../api/types";
import { Badge } from "../../ui/parts";

export function outcomeBadge(state: CallState) {
  switch (state.type) {
    case "running":
      return <Badge tone="info">running</Badge>;
    case "waitingForAnswer":
      return <Badge tone="warn">asks you</Badge>;
    case "task":
      return <Badge tone="violet">task {state.status.replace("_", " ")}</Badge>;
    case "finished":
      switch (state.outcome.type) {
        case "ok":
          return <Badge tone="ok">ok</Badge>;
        case "toolError":
          return <Badge tone="bad">tool error</Badge>;
        case "error":
          return <Badge tone="bad">error{state.outcome.code === null ? "" : ` ${state.outcome.code}`}</Badge>;
        case "cancelled":
          return <Badge>cancelled</Badge>;
      }
  }
}
