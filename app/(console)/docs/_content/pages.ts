/** The pages of the documentation, in the order of its navigation. Each is a document of the repository. */

export interface DocsPage {
  /** The last part of its address: `/docs/quickstart`. */
  readonly slug: string;
  /** In the navigation; the document has its own. */
  readonly title: string;
  /** The document, from the root of the repository. */
  readonly file: string;
  readonly about: string;
}

export interface DocsGroup {
  readonly title: string;
  readonly pages: readonly DocsPage[];
}

const page = (slug: string, file: string, title: string, about: string): DocsPage => ({
  slug,
  title,
  file,
  about,
});

export const groups: readonly DocsGroup[] = [
  {
    title: "Use",
    pages: [
      page(
        "music",
        "docs/guides/music.md",
        "For managers, labels and publishers",
        "What it does for your work, with prompts to copy.",
      ),
    ],
  },
  {
    title: "Get started",
    pages: [
      page("quickstart", "docs/guides/quickstart.md", "Quickstart", "A key, a session, a turn."),
      page(
        "client",
        "packages/client/README.md",
        "Client and command line",
        "Typed requests from TypeScript, and a command for the terminal.",
      ),
      page("mcp", "docs/mcp.md", "MCP", "The API as tools of Claude, Cursor and others."),
    ],
  },
  {
    title: "Build",
    pages: [
      page(
        "streaming",
        "docs/guides/streaming.md",
        "Streaming and resuming",
        "Read a turn as it happens, and lose nothing.",
      ),
      page(
        "long-tasks",
        "docs/guides/long-tasks.md",
        "Long tasks",
        "Contexts, subagents, limits, and work that is checked.",
      ),
      page("sandbox", "docs/guides/sandbox.md", "Sandbox", "Files in and out, and commands."),
      page("skills", "docs/guides/skills.md", "Skills", "Instructions that your agents follow."),
      page(
        "templates",
        "docs/guides/templates.md",
        "Agent templates",
        "Instructions to share, in versions that you accept.",
      ),
      page(
        "workspace",
        "docs/guides/workspace.md",
        "Workspace",
        "Files and a memory that all sessions share.",
      ),
      page(
        "structured-output",
        "docs/guides/structured-output.md",
        "Structured output",
        "JSON that is valid under your schema.",
      ),
      page(
        "client-tools",
        "docs/guides/client-tools.md",
        "Client tools",
        "Tools that your own program runs.",
      ),
      page(
        "approvals",
        "docs/guides/approvals.md",
        "Approvals",
        "Agents that ask before they act.",
      ),
      page(
        "mcp-servers",
        "docs/guides/mcp-servers.md",
        "MCP servers",
        "Tools of other services for your agents.",
      ),
      page("schedules", "docs/guides/schedules.md", "Schedules", "Work at nine every Monday."),
      page("triggers", "docs/guides/triggers.md", "Triggers", "Work when something happens."),
      page("delivery", "docs/guides/delivery.md", "Delivery", "Results by mail, once."),
      page("webhooks", "docs/webhooks.md", "Webhooks", "Be told when a run has ended."),
      page("errors", "docs/guides/errors.md", "Errors", "What each status means, and the remedy."),
      page("idempotency", "docs/guides/idempotency.md", "Idempotency", "Repeat a request safely."),
    ],
  },
  {
    title: "Operate",
    pages: [
      page("self-hosting", "docs/deploy.md", "Self-hosting", "One server, many, or Vercel."),
      page("settings", "docs/settings.md", "Settings", "All settings with their defaults."),
      page("operations", "docs/operations.md", "Operations", "Traces, metrics and alerts."),
      page("glossary", "docs/glossary.md", "Glossary", "What the words mean."),
    ],
  },
];

export const pages: readonly DocsPage[] = groups.flatMap((group) => group.pages);

export const addressOfPage = ({ slug }: DocsPage): string => `/docs/${slug}`;

/** The last part of the address of a tag of the reference. */
export const slugOfTag = (tag: string): string => tag.toLowerCase().replaceAll(" ", "-");

export const addressOfTag = (tag: string): string => `/docs/reference/${slugOfTag(tag)}`;
