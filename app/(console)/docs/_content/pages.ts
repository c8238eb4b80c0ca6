import deploy from "@/docs/deploy.md";
import glossary from "@/docs/glossary.md";
import approvals from "@/docs/guides/approvals.md";
import clientTools from "@/docs/guides/client-tools.md";
import delivery from "@/docs/guides/delivery.md";
import errors from "@/docs/guides/errors.md";
import evals from "@/docs/guides/evals.md";
import idempotency from "@/docs/guides/idempotency.md";
import longTasks from "@/docs/guides/long-tasks.md";
import mcpServers from "@/docs/guides/mcp-servers.md";
import music from "@/docs/guides/music.md";
import quickstart from "@/docs/guides/quickstart.md";
import sandbox from "@/docs/guides/sandbox.md";
import schedules from "@/docs/guides/schedules.md";
import skills from "@/docs/guides/skills.md";
import streaming from "@/docs/guides/streaming.md";
import structuredOutput from "@/docs/guides/structured-output.md";
import templates from "@/docs/guides/templates.md";
import triggers from "@/docs/guides/triggers.md";
import workspace from "@/docs/guides/workspace.md";
import mcp from "@/docs/mcp.md";
import operations from "@/docs/operations.md";
import settings from "@/docs/settings.md";
import webhooks from "@/docs/webhooks.md";
import client from "@/packages/client/README.md";

/** The pages of the documentation, in the order of its navigation. Each is a document of the repository. */

/** The document's text as bundled, its title in the navigation, and its path if it is not a guide. */
type Entry = readonly [text: string, title: string, about: string, file?: string];

/** The documents by their groups and the last parts of their addresses, such as `/docs/quickstart`. */
const documents: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  Use: {
    music: [
      music,
      "For managers, labels and publishers",
      "What it does for your work, with prompts to copy.",
    ],
  },
  "Get started": {
    quickstart: [quickstart, "Quickstart", "A key, a session, a turn."],
    client: [
      client,
      "Client and command line",
      "Typed requests from TypeScript, and a command for the terminal.",
      "packages/client/README.md",
    ],
    mcp: [mcp, "MCP", "The API as tools of Claude, Cursor and others.", "docs/mcp.md"],
  },
  Build: {
    streaming: [
      streaming,
      "Streaming and resuming",
      "Read a turn as it happens, and lose nothing.",
    ],
    "long-tasks": [
      longTasks,
      "Long tasks",
      "Contexts, subagents, limits, and work that is checked.",
    ],
    sandbox: [sandbox, "Sandbox", "Files in and out, and commands."],
    skills: [skills, "Skills", "Instructions that your agents follow."],
    templates: [
      templates,
      "Agent templates",
      "Instructions to share, in versions that you accept.",
    ],
    workspace: [workspace, "Workspace", "Files and a memory that all sessions share."],
    "structured-output": [
      structuredOutput,
      "Structured output",
      "JSON that is valid under your schema.",
    ],
    "client-tools": [clientTools, "Client tools", "Tools that your own program runs."],
    approvals: [approvals, "Approvals", "Agents that ask before they act."],
    "mcp-servers": [mcpServers, "MCP servers", "Tools of other services for your agents."],
    schedules: [schedules, "Schedules", "Work at nine every Monday."],
    triggers: [triggers, "Triggers", "Work when something happens."],
    delivery: [delivery, "Delivery", "Results by mail, once."],
    webhooks: [webhooks, "Webhooks", "Be told when a run has ended.", "docs/webhooks.md"],
    errors: [errors, "Errors", "What each status means, and the remedy."],
    idempotency: [idempotency, "Idempotency", "Repeat a request safely."],
    evals: [evals, "Evaluations", "Compare models on your own cases."],
  },
  Operate: {
    "self-hosting": [deploy, "Self-hosting", "One server, many, or Vercel.", "docs/deploy.md"],
    settings: [settings, "Settings", "All settings with their defaults.", "docs/settings.md"],
    operations: [operations, "Operations", "Traces, metrics and alerts.", "docs/operations.md"],
    glossary: [glossary, "Glossary", "What the words mean.", "docs/glossary.md"],
  },
};

const pageOf = ([slug, entry]: [string, Entry]) => {
  const [text, title, about, file = `docs/guides/${slug}.md`] = entry;
  return { slug, text, title, about, file };
};

export type DocsPage = ReturnType<typeof pageOf>;

export const groups = Object.entries(documents).map(([title, entries]) => ({
  ...{ title, pages: Object.entries(entries).map(pageOf) },
}));

export const pages: readonly DocsPage[] = groups.flatMap((group) => group.pages);

export const addressOfPage = ({ slug }: DocsPage): string => `/docs/${slug}`;

/** The last part of the address of a tag of the reference. */
export const slugOfTag = (tag: string): string => tag.toLowerCase().replaceAll(" ", "-");

export const addressOfTag = (tag: string): string => `/docs/reference/${slugOfTag(tag)}`;
