import deploy from "@/docs/deploy.md";
import glossary from "@/docs/glossary.md";
import approvals from "@/docs/guides/approvals.md";
import clientTools from "@/docs/guides/client-tools.md";
import delivery from "@/docs/guides/delivery.md";
import errors from "@/docs/guides/errors.md";
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

export type DocsPage = ReturnType<typeof page>;

/**
 * @param slug the last part of its address: `/docs/quickstart`
 * @param text the document, of which the bundler makes a text (`turbopack.rules` in `next.config.ts`)
 * @param title in the navigation; the document has its own
 * @param file the document, from the root of the repository, where it is no guide of that name
 */
const page = (
  slug: string,
  text: string,
  title: string,
  about: string,
  file = `docs/guides/${slug}.md`,
) => ({ slug, text, title, about, file });

export const groups = [
  {
    title: "Use",
    pages: [
      page(
        "music",
        music,
        "For managers, labels and publishers",
        "What it does for your work, with prompts to copy.",
      ),
    ],
  },
  {
    title: "Get started",
    pages: [
      page("quickstart", quickstart, "Quickstart", "A key, a session, a turn."),
      page(
        "client",
        client,
        "Client and command line",
        "Typed requests from TypeScript, and a command for the terminal.",
        "packages/client/README.md",
      ),
      page("mcp", mcp, "MCP", "The API as tools of Claude, Cursor and others.", "docs/mcp.md"),
    ],
  },
  {
    title: "Build",
    pages: [
      page(
        "streaming",
        streaming,
        "Streaming and resuming",
        "Read a turn as it happens, and lose nothing.",
      ),
      page(
        "long-tasks",
        longTasks,
        "Long tasks",
        "Contexts, subagents, limits, and work that is checked.",
      ),
      page("sandbox", sandbox, "Sandbox", "Files in and out, and commands."),
      page("skills", skills, "Skills", "Instructions that your agents follow."),
      page(
        "templates",
        templates,
        "Agent templates",
        "Instructions to share, in versions that you accept.",
      ),
      page("workspace", workspace, "Workspace", "Files and a memory that all sessions share."),
      page(
        "structured-output",
        structuredOutput,
        "Structured output",
        "JSON that is valid under your schema.",
      ),
      page("client-tools", clientTools, "Client tools", "Tools that your own program runs."),
      page("approvals", approvals, "Approvals", "Agents that ask before they act."),
      page("mcp-servers", mcpServers, "MCP servers", "Tools of other services for your agents."),
      page("schedules", schedules, "Schedules", "Work at nine every Monday."),
      page("triggers", triggers, "Triggers", "Work when something happens."),
      page("delivery", delivery, "Delivery", "Results by mail, once."),
      page("webhooks", webhooks, "Webhooks", "Be told when a run has ended.", "docs/webhooks.md"),
      page("errors", errors, "Errors", "What each status means, and the remedy."),
      page("idempotency", idempotency, "Idempotency", "Repeat a request safely."),
    ],
  },
  {
    title: "Operate",
    pages: [
      page(
        "self-hosting",
        deploy,
        "Self-hosting",
        "One server, many, or Vercel.",
        "docs/deploy.md",
      ),
      page(
        "settings",
        settings,
        "Settings",
        "All settings with their defaults.",
        "docs/settings.md",
      ),
      page(
        "operations",
        operations,
        "Operations",
        "Traces, metrics and alerts.",
        "docs/operations.md",
      ),
      page("glossary", glossary, "Glossary", "What the words mean.", "docs/glossary.md"),
    ],
  },
];

export const pages: readonly DocsPage[] = groups.flatMap((group) => group.pages);

export const addressOfPage = ({ slug }: DocsPage): string => `/docs/${slug}`;

/** The last part of the address of a tag of the reference. */
export const slugOfTag = (tag: string): string => tag.toLowerCase().replaceAll(" ", "-");

export const addressOfTag = (tag: string): string => `/docs/reference/${slugOfTag(tag)}`;
