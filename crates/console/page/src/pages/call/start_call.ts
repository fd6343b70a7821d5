// Starts a call, and asks for confirmation where the permission rules want it.

import { post, RequestError } from "../../api/client";
import type { CallRequest, CallStarted } from "../../api/types";

export type StartOutcome = { type: "started"; call: number } | { type: "confirm"; sentence: string } | { type: "failed"; error: unknown };

export async function startCall(request: CallRequest): Promise<StartOutcome> {
  try {
    const { call } = await post<CallStarted>("/api/calls", request);
    return { type: "started", call };
  } catch (error) {
    if (error instanceof RequestError && error.code === "confirmation_required") return { type: "confirm", sentence: error.message };
    return { type: "failed", error };
  }
}
