// The state of the console: a snapshot, and the events since. Pure: every change is `apply(state, event)`.

import type {
  CallSnapshot, ConsoleEvent, ConsoleInfo, Denial, DoctorRun, FirstRun, LoginAttempt, Question, ResourceSubscription,
  ServerSnapshot, Snapshot, StderrLine, TaskSnapshot,
} from "../api/types";

export interface ConsoleState {
  console: ConsoleInfo;
  servers: ServerSnapshot[];
  catalogRevision: number;
  /** Newest first. */
  calls: CallSnapshot[];
  questions: Question[];
  tasks: TaskSnapshot[];
  subscriptions: ResourceSubscription[];
  loginAttempts: LoginAttempt[];
  firstRun: FirstRun | null;
  doctors: Record<string, DoctorRun>;
  /** Lines that arrived since the page was opened, by server. */
  stderr: Record<string, StderrLine[]>;
  /** Denials that arrived since the page was opened, newest first. */
  denials: Denial[];
  /** Increased when the logins have to be fetched again. */
  loginsVersion: number;
  gatewayVersion: number;
}

const MAX_DENIALS = 200;
const MAX_SAMPLES = 60;

export function fromSnapshot(snapshot: Snapshot, before: ConsoleState | null): ConsoleState {
  return {
    console: snapshot.console,
    servers: snapshot.servers,
    catalogRevision: snapshot.catalogRevision,
    calls: [...snapshot.calls].sort((a, b) => b.call - a.call),
    questions: snapshot.questions,
    tasks: snapshot.tasks,
    subscriptions: snapshot.subscriptions,
    loginAttempts: snapshot.loginAttempts,
    firstRun: snapshot.firstRun,
    doctors: before?.doctors ?? {},
    stderr: {},
    denials: before?.denials ?? [],
    loginsVersion: (before?.loginsVersion ?? 0) + 1,
    gatewayVersion: (before?.gatewayVersion ?? 0) + 1,
  };
}

/** Applies an event. Frames and gaps are not part of this state. */
export function apply(state: ConsoleState, event: ConsoleEvent): ConsoleState {
  switch (event.type) {
    case "server":
      return { ...state, firstRun: null, servers: replace(state.servers, event.server, (server) => server.name) };
    case "serverRemoved":
      return { ...state, servers: state.servers.filter((server) => server.name !== event.name) };
    case "latency":
      return { ...state, servers: state.servers.map((server) => (server.name === event.server ? withLatency(server, event) : server)) };
    case "stderr": {
      const max = state.console.limits.maxStderrLines;
      const lines = [...(state.stderr[event.server] ?? []), ...event.lines].slice(-max);
      return { ...state, stderr: { ...state.stderr, [event.server]: lines } };
    }
    case "catalog":
      return { ...state, catalogRevision: event.revision };
    case "doctorStep":
    case "doctorDone":
      return { ...state, doctors: { ...state.doctors, [event.server]: withDoctor(state.doctors[event.server], event) } };
    case "call":
      return { ...state, calls: withCall(state, event.call) };
    case "question":
      return { ...state, questions: replace(state.questions, event.question, (question) => question.question) };
    case "questionClosed":
      return { ...state, questions: state.questions.filter((question) => question.question !== event.question) };
    case "task":
      return { ...state, tasks: replace(state.tasks, event.task, (task) => `${task.server}\n${task.taskId}`) };
    case "subscription":
      return { ...state, subscriptions: replace(state.subscriptions, event.subscription, (one) => `${one.server}\n${one.uri}`) };
    case "unsubscribed":
      return { ...state, subscriptions: state.subscriptions.filter((one) => one.server !== event.server || one.uri !== event.uri) };
    case "loginAttempt":
      return { ...state, loginAttempts: replace(state.loginAttempts, event.attempt, (attempt) => attempt.server) };
    case "loginsChanged":
      return { ...state, loginsVersion: state.loginsVersion + 1 };
    case "denial":
      return { ...state, denials: [event.denial, ...state.denials].slice(0, MAX_DENIALS) };
    case "gatewayChanged":
      return { ...state, gatewayVersion: state.gatewayVersion + 1 };
    case "frames":
    case "trafficCleared":
    case "gap":
      return state;
    default:
      // An event of a newer server.
      return state;
  }
}

function replace<T>(list: T[], item: T, keyOf: (item: T) => string | number): T[] {
  const key = keyOf(item);
  const at = list.findIndex((other) => keyOf(other) === key);
  return at < 0 ? [...list, item] : [...list.slice(0, at), item, ...list.slice(at + 1)];
}

function withCall(state: ConsoleState, call: CallSnapshot): CallSnapshot[] {
  const at = state.calls.findIndex((other) => other.call === call.call);
  if (at >= 0) return [...state.calls.slice(0, at), call, ...state.calls.slice(at + 1)];
  return [call, ...state.calls].slice(0, state.console.limits.maxCalls);
}

function withLatency(server: ServerSnapshot, event: ConsoleEvent & { type: "latency" }): ServerSnapshot {
  return { ...server, metrics: event.metrics, latency: [...server.latency, ...event.samples].slice(-MAX_SAMPLES) };
}

function withDoctor(run: DoctorRun | undefined, event: ConsoleEvent & { type: "doctorStep" | "doctorDone" }): DoctorRun {
  const current = run?.run === event.run ? run : { run: event.run, server: event.server, steps: [], outcome: null };
  return event.type === "doctorStep" ? { ...current, steps: [...current.steps, event.step] } : { ...current, outcome: event.outcome };
}
