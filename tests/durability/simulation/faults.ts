/**
 * The faults that a simulation injects between a server and its database. Statements are recognized
 * by their text, so the product contains no hooks.
 */
import { setTimeout as delay } from "node:timers/promises";

/** The statements at which a server can die or lose its connection, over REST and in SQL. */
const POINTS = {
  claim: /\bclaim_turn\b/,
  load: /\b(load_turn|begin_claimed_turn)\b/,
  reserve: /\breserve_call\b/,
  steer: /\btake_steering_messages\b/,
  "note limit": /\bnote_limit\b/,
  "start tools": /\bstart_tools\b/,
  "finish tool": /\bfinish_tool\b/,
  "complete step": /\bcomplete_model_call\b/,
  "record compaction": /\brecord_compaction\b/,
  "end compaction": /\bend_compaction\b/,
  "ask approvals": /\bask_approvals\b/,
  "suspend turn": /\bsuspend_turn\b/,
  "answer approvals": /\banswer_approvals\b/,
  "use workspace": /\bbegin_workspace_use\b/,
  "store file": /\bchange_workspace_file\b/,
  "save checkout": /\bsave_workspace_checkout\b/,
  "finish turn": /\bfinish_turn\b/,
  "request stop": /\brequest_stop\b/,
  "create run": /insert into engine\.runs\b/,
  "create step": /insert into engine\.steps\b/,
  "end step": /update engine\.steps\b/,
  "write chunks": /insert into engine\.chunks\b/,
  "end run": /update engine\.runs set status/,
  "take over": /update engine\.runs (r )?set owner/,
  "delete instance": /engine\.remove_instance/,
} as const;
export type Point = keyof typeof POINTS;
export const pointNames = Object.keys(POINTS) as Point[];

/** Before: the statement is never executed. After: it is, and its answer is lost. */
export type Phase = "before" | "after";
/**
 * `crash` kills the server with SIGKILL, and `drain` ends it with SIGTERM; `cut` breaks the
 * connection; `stall` delays.
 */
export type Effect = "crash" | "drain" | "cut" | "stall";

export interface Rule {
  readonly point: Point;
  readonly phase: Phase;
  readonly effect: Effect;
}

/** On a line that is slow, and at a rule that stalls. */
const SLOW_STATEMENT_MS = 20;
const STALLED_STATEMENT_MS = 400;

/** The rules of all servers. The first statement that matches a rule, at any server, spends it. */
export class Faults {
  readonly #rules = new Set<Rule>();
  /** The points that statements have passed or were stopped at. */
  readonly seen = new Set<Point>();

  arm(rule: Rule): void {
    this.#rules.add(rule);
  }

  clear(): void {
    this.#rules.clear();
  }

  take(statement: string, phase: Phase): Effect | undefined {
    const points = pointNames.filter((name) => POINTS[name].test(statement));
    for (const point of points) this.seen.add(point);
    for (const rule of this.#rules) {
      if (!points.includes(rule.point) || rule.phase !== phase) continue;
      this.#rules.delete(rule);
      return rule.effect;
    }
    return undefined;
  }
}

/** How a fault ends a server. */
type Endings = Readonly<Record<"crash" | "drain", () => void>>;

/** The way between one server and its database. */
export class Line {
  losesNotifications = false;
  isSlow = false;
  isPartitioned = false;
  readonly #faults: Faults;
  readonly #cutters = new Set<() => void>();
  #server: Endings | undefined;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** Faults spare a server until this is called. */
  activate(server: Endings): void {
    this.#server = server;
  }

  /** Resolves to whether the statement, or its answer, is passed on; if not, its connection breaks. */
  async pass(statement: string, phase: Phase): Promise<boolean> {
    if (!this.#server) return true;
    if (this.isSlow && phase === "before") await delay(SLOW_STATEMENT_MS);
    const effect = this.#faults.take(statement, phase);
    if (effect === "stall") await delay(STALLED_STATEMENT_MS);
    if (effect === "crash") this.#server.crash();
    if (effect === "drain") this.#server.drain();
    return effect !== "crash" && effect !== "cut";
  }

  /** Calls `cut` when the server loses all its connections. Returns a function that forgets it. */
  onPartition(cut: () => void): () => void {
    this.#cutters.add(cut);
    return () => this.#cutters.delete(cut);
  }

  /** Breaks all connections, and refuses new ones until `heal`. */
  partition(): void {
    this.isPartitioned = true;
    for (const cut of [...this.#cutters]) cut();
  }

  heal(): void {
    this.isPartitioned = false;
    this.losesNotifications = false;
    this.isSlow = false;
  }
}
