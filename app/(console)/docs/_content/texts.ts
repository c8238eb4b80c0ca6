/** The documents themselves; the bundler makes texts of them (`turbopack.rules` in `next.config.ts`). */
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
import { type ParsedDocument, parseDocument } from "./parse-document.ts";

const texts: Readonly<Record<string, string>> = {
  "docs/deploy.md": deploy,
  "docs/glossary.md": glossary,
  "docs/guides/approvals.md": approvals,
  "docs/guides/client-tools.md": clientTools,
  "docs/guides/delivery.md": delivery,
  "docs/guides/errors.md": errors,
  "docs/guides/idempotency.md": idempotency,
  "docs/guides/long-tasks.md": longTasks,
  "docs/guides/quickstart.md": quickstart,
  "docs/guides/sandbox.md": sandbox,
  "docs/guides/workspace.md": workspace,
  "docs/guides/schedules.md": schedules,
  "docs/guides/mcp-servers.md": mcpServers,
  "docs/guides/music.md": music,
  "docs/guides/skills.md": skills,
  "docs/guides/streaming.md": streaming,
  "docs/guides/structured-output.md": structuredOutput,
  "docs/guides/templates.md": templates,
  "docs/guides/triggers.md": triggers,
  "docs/mcp.md": mcp,
  "docs/operations.md": operations,
  "docs/settings.md": settings,
  "docs/webhooks.md": webhooks,
  "packages/client/README.md": client,
};

const parsed = new Map<string, ParsedDocument>();

/** @param file of a page in `pages.ts` */
export function readDocument(file: string): ParsedDocument {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const document = parseDocument(texts[file] ?? "");
  parsed.set(file, document);
  return document;
}
