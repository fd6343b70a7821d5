// The contract between the page and its server: snapshots, requests and events.
//
// Generated from crates/console/src/contract; UPDATE_CONSOLE_TYPES=1 cargo test -p switchboard-mcp-console --test it
// page_types writes it. A member that may be missing is `null`, never absent.

// Scalars that have a meaning of their own.

/** JSON as text, exactly as it was on the wire. */
export type JsonText = string;

/** Milliseconds since the Unix epoch. */
export type UnixMs = number;

// The console itself: what it is, and the snapshot.

/** What serves the page: a host of configured servers, or a gateway. */
export type ConsoleMode = "host" | "gateway";

/** What the console is. */
export interface ConsoleInfo {
  version: string;
  mode: ConsoleMode;
  /** No action changes anything; true on a gateway. */
  readOnly: boolean;
  /** Programs may be added to the configuration (`--allow-config-edit`). */
  allowConfigEdit: boolean;
  startedAtMs: UnixMs;
  limits: ConsoleLimits;
}

/** The limits of the console. */
export interface ConsoleLimits {
  /** Frames that are kept: 10,000. */
  maxFrames: number;
  /** Bytes of payloads that are kept: 64 MB. */
  maxFrameBytes: number;
  /** Payloads above this size are sent as a preview unless the whole is requested: 64 KB. */
  previewBytes: number;
  /** Finished calls that are kept: 200. */
  maxCalls: number;
  /** Lines of stderr that are kept for each server: 500. */
  maxStderrLines: number;
  /** The largest recording that can be opened: 64 MB. */
  maxRecordingBytes: number;
}

/** `GET /api/snapshot`: everything that is small. The catalog, traffic and audit are fetched by their pages. */
export interface Snapshot {
  /** Number of the last event that is included; events above it follow on the stream. */
  sequence: number;
  console: ConsoleInfo;
  servers: ServerSnapshot[];
  /** Revision of the catalog; a page whose catalog is older fetches it again. */
  catalogRevision: number;
  calls: CallSnapshot[];
  questions: Question[];
  tasks: TaskSnapshot[];
  subscriptions: ResourceSubscription[];
  loginAttempts: LoginAttempt[];
  traffic: TrafficTotals;
  /** Present if no server is configured. */
  firstRun: FirstRun | null;
}

/** What is offered while no server is configured. */
export interface FirstRun {
  demoServers: DemoServer[];
  /** The command that looks for servers of other clients. */
  importCommand: string;
  importSources: ImportSource[];
}

/** An embedded server for a first look. */
export interface DemoServer {
  name: string;
  title: string;
  description: string;
}

/** The configuration of another client. */
export interface ImportSource {
  client: string;
  path: string;
  servers: number;
  /** The command that imports them. */
  command: string;
}

// Servers: state, identity, metrics, stderr, diagnosis.

/** A configured server. */
export interface ServerSnapshot {
  name: string;
  state: ServerState;
  /** Whether its tools are listed. */
  enabled: boolean;
  /** The scope of its configuration (`user`, `project`, …); null if it is not from a file. */
  scope: string | null;
  transport: ServerTransport;
  /** While connected. */
  session: SessionSummary | null;
  identity: Identity;
  metrics: ServerMetrics;
  /** The last 60 calls, oldest first. */
  latency: LatencySample[];
  counts: ServerCounts;
  /** Estimated tokens of its visible tools. */
  tokens: number;
  /** Its configuration, secrets masked. */
  configJson: JsonText;
  /** Rules that match none of its tools. */
  unmatchedRules: string[];
}

/** The state of a server. */
export type ServerState =
  | { type: "disabled" }
  | { type: "awaitingApproval"; command: string }
  | { type: "asleep" }
  | { type: "starting"; sinceMs: UnixMs; attempt: number }
  | { type: "ready" }
  | { type: "degraded"; error: string; nextStep: string }
  | { type: "backingOff"; untilMs: UnixMs; attempt: number; error: string; nextStep: string }
  | { type: "needsAuth"; login: LoginRequirement }
  | { type: "failed"; error: string; nextStep: string; stderrTail: string | null }
  | { type: "stopped" };

/** A login that a server needs. */
export interface LoginRequirement {
  /** What has to happen before the server can be used. */
  requirement: RequirementKind;
  scope: string | null;
  issuer: string | null;
  redirectUri: string | null;
  code: string | null;
  accounts: string[];
  nextStep: string;
}

/** What has to happen before a server can be used. */
export type RequirementKind = "login" | "client-registration" | "administrator" | "account" | "other-credentials";

/** How a server is reached. */
export type ServerTransport =
  | { type: "stdio"; command: string[]; cwd: string | null; pid: number | null }
  | { type: "http"; url: string; legacySse: boolean }
  | { type: "inProcess" };

/** An open session. */
export interface SessionSummary {
  era: SessionEra;
  revision: string;
  /** The server's own name and version: an unverified claim. */
  serverName: string | null;
  serverVersion: string | null;
  /** Capabilities that it declares, such as `tools`, `resources.subscribe`. */
  capabilities: string[];
  instructions: string | null;
  connectedAtMs: UnixMs;
}

/** A generation of protocol revisions. */
export type SessionEra = "modern" | "legacy";

/** Which identity reaches the server. Never holds a secret. */
export type Identity =
  | { type: "none" }
  | { type: "oauth"; account: string; issuer: string; scopes: string[]; expiresAtMs: UnixMs | null; canRefresh: boolean }
  | { type: "headers"; names: string[] }
  | { type: "headersHelper"; command: string }
  | { type: "environment"; names: string[] }
  | { type: "process"; user: string }
  | { type: "perCaller"; description: string }
  | { type: "unknown"; reason: string };

/** Counts and latencies of a server since the start. */
export interface ServerMetrics {
  calls: number;
  failures: number;
  toolErrors: number;
  reconnects: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

/** The latency of one call. */
export interface LatencySample {
  atMs: UnixMs;
  ms: number;
  ok: boolean;
}

/** How many items a server offers. */
export interface ServerCounts {
  tools: number;
  hiddenTools: number;
  resources: number;
  templates: number;
  prompts: number;
}

/** `GET /api/servers/{name}/stderr`. */
export interface StderrTail {
  server: string;
  lines: StderrLine[];
  /** Lines that were dropped before the first. */
  dropped: number;
}

/** A line of stderr. */
export interface StderrLine {
  atMs: UnixMs;
  text: string;
}

/** A diagnosis of a server. */
export interface DoctorRun {
  run: number;
  server: string;
  steps: DoctorStep[];
  /** Null while it is running. */
  outcome: DoctorOutcome | null;
}

/** A step of a diagnosis. */
export interface DoctorStep {
  step: string;
  ok: boolean;
  ms: number;
  message: string;
  stderr: string | null;
  tried: TriedUrl[];
}

/** A URL that a diagnosis has requested. */
export interface TriedUrl {
  document: string;
  url: string;
  outcome: string;
}

/** The outcome of a diagnosis. */
export interface DoctorOutcome {
  ok: boolean;
  nextStep: string | null;
}

// The catalog: rows, definitions, and why an item is not shown.

/** `GET /api/catalog`: rows only; a definition is fetched when it is opened. */
export interface Catalog {
  revision: number;
  tools: ToolRow[];
  resources: ResourceRow[];
  templates: TemplateRow[];
  prompts: PromptRow[];
}

/** A tool, as a row of the catalog. */
export interface ToolRow {
  server: string;
  /** The name on the server. */
  name: string;
  /** The name that models see. */
  qualifiedName: string;
  title: string | null;
  /** At most 400 characters. */
  description: string;
  /** Estimated tokens of the definition. */
  tokens: number;
  /** Why models do not see it; null if they do. */
  hidden: Hidden | null;
  /** The definition differs from the pinned one. */
  drifted: boolean;
  hints: ToolHints;
  taskSupport: TaskSupport;
}

/** Whether a tool runs as a task. */
export type TaskSupport = "forbidden" | "optional" | "required";

/** The annotations of a tool: unverified claims of its server. */
export interface ToolHints {
  readOnly: boolean | null;
  destructive: boolean | null;
  idempotent: boolean | null;
  openWorld: boolean | null;
}

/** Why an item is not shown, with the rule. */
export type Hidden =
  | { type: "denied"; rule: string }
  | { type: "notAllowed"; allow: string[] }
  | { type: "clash"; with: ServerItem[] }
  | { type: "drifted" }
  | { type: "tooMany"; max: number }
  | { type: "rejected"; reason: string }
  | { type: "serverDisabled" }
  | { type: "policy"; rule: string; reason: string };

/** A name of a server. */
export interface ServerItem {
  server: string;
  name: string;
}

/** A resource, as a row of the catalog. */
export interface ResourceRow {
  server: string;
  uri: string;
  name: string;
  title: string | null;
  description: string;
  mimeType: string | null;
  size: number | null;
  tokens: number;
  hidden: Hidden | null;
}

/** A resource template, as a row of the catalog. */
export interface TemplateRow {
  server: string;
  uriTemplate: string;
  name: string;
  title: string | null;
  description: string;
  mimeType: string | null;
  tokens: number;
  hidden: Hidden | null;
}

/** A prompt, as a row of the catalog. */
export interface PromptRow {
  server: string;
  name: string;
  title: string | null;
  description: string;
  arguments: PromptArgument[];
  tokens: number;
  hidden: Hidden | null;
}

/** An argument of a prompt. */
export interface PromptArgument {
  name: string;
  description: string | null;
  required: boolean;
}

/** `GET /api/tool`. */
export interface ToolDetail {
  row: ToolRow;
  /** Not cut. */
  description: string;
  inputSchemaJson: JsonText;
  outputSchemaJson: JsonText | null;
  /** The whole definition as the server lists it. */
  definitionJson: JsonText;
  /** What the permission rules decide about a call. */
  permission: Permission;
  drift: Drift | null;
}

/** What the permission rules decide about a call. */
export type Permission =
  | { type: "allow"; sentence: string }
  | { type: "ask"; sentence: string }
  | { type: "deny"; sentence: string; rule: string | null };

/** How a definition differs from the pinned one. */
export interface Drift {
  /** Null if only the digest was pinned. */
  beforeJson: JsonText | null;
  nowJson: JsonText;
}

/** The kind of an item that is asked about. */
export type CatalogItemKind = "tool" | "resource" | "template" | "prompt" | "server";

/** `GET /api/why`. */
export interface WhyAnswer {
  kind: CatalogItemKind;
  server: string | null;
  name: string;
  verdict: WhyVerdict;
  /** One sentence that answers the question. */
  sentence: string;
  /** Checks in the order in which they are made; the first that fails decides. */
  checks: WhyCheck[];
  /** What to do, if anything. */
  nextStep: string | null;
  similar: string[];
}

/** The answer to why. */
export type WhyVerdict = "available" | "refused" | "hidden" | "notReady" | "unknown";

/** One of the checks that answer why. */
export interface WhyCheck {
  /** Such as `configuration`, `connection`, `login`, `definition`, `allow and deny rules`, `permission`, `policy`. */
  check: string;
  outcome: CheckOutcome;
  message: string;
  rule: string | null;
}

/** How a check ended. */
export type CheckOutcome = "pass" | "fail" | "skipped";

// Calls: requests, states, results, completion.

/** `POST /api/calls`. */
export type CallRequest =
  | {
      type: "tool";
      server: string;
      name: string;
      argumentsJson: JsonText;
      /** A JSON object for `_meta`. */
      metaJson: JsonText | null;
      asTask: boolean;
      /** The user confirmed a call that the permission rules ask about. */
      confirmed: boolean;
      timeoutMs: number | null;
    }
  | { type: "resource"; server: string; uri: string }
  | { type: "prompt"; server: string; name: string; arguments: Record<string, string> };

/** The number of a call that was started. */
export interface CallStarted {
  call: number;
}

/** A call that the console has started. */
export interface CallSnapshot {
  call: number;
  request: CallRequest;
  startedAtMs: UnixMs;
  state: CallState;
  progress: Progress | null;
  /** The last 100 log messages of the call. */
  logs: CallLog[];
}

/** The state of a call. */
export type CallState =
  | { type: "running" }
  | { type: "waitingForAnswer"; questions: number[] }
  | { type: "task"; taskId: string; status: TaskStatus }
  | { type: "finished"; atMs: UnixMs; outcome: CallOutcome };

/** How a call ended. */
export type CallOutcome =
  /** The size of the result; the result itself is at `GET /api/calls/{call}/result`. */
  | { type: "ok"; bytes: number }
  | { type: "toolError"; bytes: number }
  | { type: "error"; code: number | null; message: string; nextStep: string | null }
  | { type: "cancelled" };

/** The progress of a call. */
export interface Progress {
  progress: number;
  total: number | null;
  message: string | null;
}

/** A log message of a call. */
export interface CallLog {
  atMs: UnixMs;
  level: string;
  message: string;
}

/** `GET /api/calls/{call}/result`: the result as the server wrote it. */
export interface CallResult {
  call: number;
  resultJson: JsonText;
  /** The result is larger than the preview limit, and this is its beginning: not valid JSON. */
  truncated: boolean;
  bytes: number;
}

/** `POST /api/complete`. */
export interface CompleteRequest {
  server: string;
  reference: CompletionReference;
  argument: string;
  value: string;
  /** Arguments that are already filled in. */
  context: Record<string, string>;
}

/** Values that complete an argument. */
export interface CompleteAnswer {
  values: string[];
  total: number | null;
  hasMore: boolean;
}

/** What an argument belongs to. */
export type CompletionReference =
  | { type: "prompt"; name: string }
  | { type: "template"; uriTemplate: string };

// Questions of servers, tasks, subscriptions.

/** A question of a server that waits for an answer. */
export interface Question {
  question: number;
  server: string;
  /** The call that waits for the answer, if it is known. */
  call: number | null;
  askedAtMs: UnixMs;
  expiresAtMs: UnixMs | null;
  body: QuestionBody;
}

/** What a server asks for. */
export type QuestionBody =
  | { type: "form"; message: string; schemaJson: JsonText }
  | { type: "url"; message: string; url: string }
  | { type: "sampling"; paramsJson: JsonText }
  | { type: "roots"; roots: Root[] };

/** A root of the host. */
export interface Root {
  uri: string;
  name: string | null;
}

/** `POST /api/questions/{question}`. */
export type Answer =
  | { type: "accept"; contentJson: JsonText | null }
  | { type: "decline" }
  | { type: "cancel" }
  /** A `CreateMessageResult`. */
  | { type: "sampling"; resultJson: JsonText }
  | { type: "roots"; roots: Root[] };

/** The status of a task. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task of a server. */
export interface TaskSnapshot {
  server: string;
  taskId: string;
  call: number | null;
  status: TaskStatus;
  statusMessage: string | null;
  createdAtMs: UnixMs;
  updatedAtMs: UnixMs;
  ttlMs: number | null;
}

/** A resource that is subscribed to. */
export interface ResourceSubscription {
  server: string;
  uri: string;
  updates: number;
  lastUpdateMs: UnixMs | null;
}

// Traffic: frames, their payloads, recordings.

/** A message of the traffic, without its payload. */
export interface Frame {
  /** Ascending, without gaps among kept frames. */
  frame: number;
  atMs: UnixMs;
  server: string;
  /** `out`: to the server. `in`: from the server. */
  direction: FrameDirection;
  kind: FrameKind;
  /** Of a response: the method of its request. */
  method: string | null;
  /** The tool, prompt or URI, at most 120 characters. */
  target: string | null;
  /** The JSON-RPC id as JSON text. */
  id: JsonText | null;
  bytes: number;
  /** The host's call that the frame belongs to; questions and retries share the number of their call. */
  call: number | null;
  /** Of a response: the frame of its request. */
  requestFrame: number | null;
  /** Of a response: the time since its request. */
  ms: number | null;
  status: FrameStatus | null;
}

/** The direction of a frame. */
export type FrameDirection = "out" | "in";

/** What a frame is. */
export type FrameKind = "request" | "response" | "notification" | "invalid";

/** Of a response. `toolError`: a result with `isError`. `inputRequired`: a question inside the result. */
export type FrameStatus = "ok" | "error" | "toolError" | "inputRequired" | "cancelled";

/** What the traffic log keeps. */
export interface TrafficTotals {
  frames: number;
  bytes: number;
  /** Number of the oldest frame that is kept. */
  firstFrame: number;
  recording: boolean;
}

/** `GET /api/traffic`: frames in order. */
export interface TrafficPage {
  frames: Frame[];
  totals: TrafficTotals;
  /** More frames follow the last one. */
  hasMore: boolean;
}

/** `GET /api/traffic/{frame}`. */
export interface FramePayload {
  frame: number;
  /** Secrets masked. */
  payload: string;
  truncated: boolean;
  bytes: number;
}

/** `POST /api/recordings`: a recording that was opened, without servers. */
export interface Recording {
  name: string;
  frames: RecordedFrame[];
}

/** A frame of a recording, with its payload. */
export interface RecordedFrame {
  frame: Frame;
  payload: string;
}

// Logins: stored ones, and attempts.

/** `GET /api/logins`. */
export interface Logins {
  logins: LoginRow[];
  /** The token store cannot be read. */
  storeError: string | null;
}

/** A stored login. */
export interface LoginRow {
  /** The configured servers that use it. */
  servers: string[];
  address: string;
  /** The caller whose login it is; null for the login of the user who runs the process. */
  principal: string | null;
  account: string;
  issuer: string;
  clientId: string;
  scopes: string[];
  state: LoginState;
  expiresAtMs: UnixMs | null;
  canRefresh: boolean;
}

/** The state of a stored login. */
export type LoginState =
  | { type: "pending" }
  | { type: "active" }
  | { type: "needsLogin"; reason: string }
  | { type: "needsUpdate"; reason: string }
  /** Logging in again would not help. */
  | { type: "orphaned"; reason: string };

/** A login in progress, or its end. */
export interface LoginAttempt {
  attempt: number;
  server: string;
  step: LoginStep;
}

/** A step of a login. */
export type LoginStep =
  | { type: "starting" }
  | { type: "openUrl"; url: string }
  | { type: "deviceCode"; userCode: string; verificationUri: string; verificationUriComplete: string | null }
  | { type: "exchanging" }
  | { type: "done"; account: string }
  | { type: "failed"; error: string; nextStep: string }
  | { type: "cancelled" };

/** `POST /api/logins`. */
export interface LoginRequest {
  server: string;
  account: string | null;
}

/** `POST /api/logins/forget`. */
export interface ForgetLogin {
  address: string;
  issuer: string;
  clientId: string;
  account: string;
}

// The policy: rules, denials, test decisions.

/** `GET /api/policy`. */
export interface PolicySnapshot {
  /** Where the rules are from: a file, or the permissions of the configuration. */
  source: string;
  defaultEffect: DefaultEffect;
  rules: PolicyRule[];
  warnings: string[];
  denials: Denial[];
}

/** What happens to a call that no rule matches. */
export type DefaultEffect = "allow" | "deny" | "ask";

/** A rule of the policy. */
export interface PolicyRule {
  /** From 1. */
  index: number;
  name: string | null;
  effect: string;
  ruleJson: JsonText;
  /** The rule has matched nothing since the start. */
  unused: boolean;
}

/** A call that was refused. */
export interface Denial {
  atMs: UnixMs;
  principal: string | null;
  server: string | null;
  kind: string;
  name: string;
  outcome: DenialOutcome;
  rule: string | null;
  reason: string;
}

/** Why a call was refused. */
export type DenialOutcome = "denied" | "missingScope" | "rateLimited";

/** `POST /api/policy/test`. */
export interface PolicyTest {
  principal: string | null;
  issuer: string | null;
  scopes: string[];
  view: string | null;
  server: string;
  kind: string;
  name: string;
  argumentsJson: JsonText | null;
}

/** What the policy decides about a call. */
export interface PolicyDecision {
  decision: PolicyVerdict;
  sentence: string;
  /** From 1; null if the default decided. */
  rule: number | null;
  scopes: string[];
  listed: boolean;
}

/** What a policy decides. */
export type PolicyVerdict = "allow" | "ask" | "deny" | "missingScope";

// A gateway: views, limits, parked questions, the audit log.

/** `GET /api/gateway`; 404 on a host. */
export interface GatewaySnapshot {
  endpoints: string[];
  views: GatewayView[];
  limits: GatewayLimit[];
  parked: ParkedQuestion[];
  withheld: WithheldName[];
  sessions: number;
  subscriptions: number;
  waitingForLogin: WaitingForLogin[];
}

/** A view of a gateway. */
export interface GatewayView {
  name: string;
  path: string;
  tools: number;
  callers: number;
}

/** A limit of a gateway. */
export interface GatewayLimit {
  name: string;
  /** What the limit counts by, such as `principal` or `server`. */
  key: string;
  limit: string;
  used: number | null;
  max: number | null;
  refused: number;
}

/** A question that waits for the answer of a caller. */
export interface ParkedQuestion {
  principal: string | null;
  server: string;
  name: string;
  askedAtMs: UnixMs;
  expiresAtMs: UnixMs;
}

/** A name that is offered to nobody, because several servers claim it. */
export interface WithheldName {
  name: string;
  claims: ServerItem[];
}

/** A caller whose login a server waits for. */
export interface WaitingForLogin {
  principal: string;
  server: string;
  sinceMs: UnixMs;
}

/** `GET /api/audit`: newest first. */
export interface AuditPage {
  records: AuditRow[];
  /** Pass as `before` for older records; null at the end. */
  next: string | null;
  /** Records that were searched. */
  searched: number;
}

/** A record of the audit log. */
export interface AuditRow {
  atMs: UnixMs;
  method: string;
  principal: string | null;
  issuer: string | null;
  authMethod: string | null;
  client: string | null;
  address: string | null;
  view: string | null;
  server: string | null;
  kind: string | null;
  name: string | null;
  outcome: string;
  rule: string | null;
  reason: string | null;
  code: number | null;
  durationMs: number;
  session: string | null;
  traceId: string | null;
}

// Adding a server.

/** `POST /api/servers/plan`: shows what adding would do; nothing is changed. */
export type AddRequest =
  | { type: "url"; name: string; url: string; scope: string }
  | { type: "program"; name: string; command: string[]; scope: string };

/** What adding a server would do. */
export type AddPlan =
  /** `POST /api/servers` with the same request writes this. */
  | { type: "apply"; path: string; entryJson: JsonText; warnings: string[] }
  /** The console does not edit the configuration: a command to paste. */
  | { type: "command"; command: string; reason: string };

// The error of every response that is not 2xx.

/** The body of every response that is not 2xx. */
export interface ApiError {
  /** A stable word, such as `key_expired`, `not_found`, `read_only`, `confirmation_required`, `invalid_arguments`. */
  code: string;
  message: string;
  nextStep: string | null;
}

// Events of the stream.

/** `GET /api/events`. The `id` of each event is its sequence number. */
export type ConsoleEvent =
  /** Events are missing: fetch the snapshot again. Has the number of the last event that was lost. */
  | { type: "gap"; lost: number }
  | { type: "server"; server: ServerSnapshot }
  | { type: "serverRemoved"; name: string }
  | { type: "stderr"; server: string; lines: StderrLine[] }
  | { type: "latency"; server: string; samples: LatencySample[]; metrics: ServerMetrics }
  | { type: "catalog"; revision: number }
  | { type: "doctorStep"; run: number; server: string; step: DoctorStep }
  | { type: "doctorDone"; run: number; server: string; outcome: DoctorOutcome }
  | { type: "call"; call: CallSnapshot }
  | { type: "question"; question: Question }
  | { type: "questionClosed"; question: number; reason: QuestionEnd }
  | { type: "task"; task: TaskSnapshot }
  | { type: "subscription"; subscription: ResourceSubscription }
  | { type: "unsubscribed"; server: string; uri: string }
  /** A batch: at most 500 frames, sent at most every 50 ms. */
  | { type: "frames"; frames: Frame[]; totals: TrafficTotals }
  | { type: "trafficCleared"; totals: TrafficTotals }
  | { type: "loginAttempt"; attempt: LoginAttempt }
  | { type: "loginsChanged" }
  | { type: "denial"; denial: Denial }
  | { type: "gatewayChanged" };

/** Why a question is closed. */
export type QuestionEnd = "answered" | "cancelled" | "expired";
