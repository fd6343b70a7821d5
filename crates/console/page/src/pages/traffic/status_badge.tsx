import type { FrameStatus } from "../../api/types";
import { Badge, type Tone } from "../../ui/parts";

const STATUSES: Record<FrameStatus, [Tone, string]> = {
  ok: ["ok", "ok"],
  error: ["bad", "error"],
  toolError: ["bad", "tool error"],
  inputRequired: ["warn", "asks"],
  cancelled: ["plain", "cancelled"],
};

export function StatusBadge({ status }: { status: FrameStatus | null }) {
  if (status === null) return null;
  const [tone, words] = STATUSES[status];
  return <Badge tone={tone}>{words}</Badge>;
}
