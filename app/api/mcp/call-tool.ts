/** Calls the endpoint of a tool. */

import type { Method } from "@platform/endpoint/contract/contract";
import type { RouteHandler } from "@platform/endpoint/methods";
import { callEndpoint } from "@/lib/http/call-endpoint.ts";
import type { CallTool } from "@/lib/mcp/serve-message.ts";
import { toolOperations } from "@/lib/openapi/describe-tools.ts";

type Route = Readonly<Partial<Record<Method, RouteHandler>>>;

/** The route of every tool, loaded when it is called for the first time. */
const routes: Readonly<Record<string, () => Promise<Route>>> = {
  "/api/agents/templates": () => import("../agents/templates/route.ts"),
  "/api/agents/templates/{id}": () => import("../agents/templates/[id]/route.ts"),
  "/api/artists": () => import("../artists/route.ts"),
  "/api/artists/{account_id}": () => import("../artists/[account_id]/route.ts"),
  "/api/catalog/artist/albums": () => import("../catalog/artist/albums/route.ts"),
  "/api/catalog/search": () => import("../catalog/search/route.ts"),
  "/api/chat": () => import("../chat/route.ts"),
  "/api/chat/runs": () => import("../chat/runs/route.ts"),
  "/api/chat/runs/{runId}": () => import("../chat/runs/[runId]/route.ts"),
  "/api/chat/runs/{runId}/cancel": () => import("../chat/runs/[runId]/cancel/route.ts"),
  "/api/chat/runs/{runId}/steps": () => import("../chat/runs/[runId]/steps/route.ts"),
  "/api/chat/runs/{runId}/tool_results": () => import("../chat/runs/[runId]/tool_results/route.ts"),
  "/api/chat/{chatId}/stop": () => import("../chat/[chatId]/stop/route.ts"),
  "/api/chats": () => import("../chats/route.ts"),
  "/api/content/image": () => import("../content/image/route.ts"),
  "/api/content/templates": () => import("../content/templates/route.ts"),
  "/api/content/templates/{id}": () => import("../content/templates/[id]/route.ts"),
  "/api/content/video": () => import("../content/video/route.ts"),
  "/api/models": () => import("../models/route.ts"),
  "/api/research/tracks": () => import("../research/tracks/route.ts"),
  "/api/sandbox": () => import("../sandbox/route.ts"),
  "/api/sandbox/files": () => import("../sandbox/files/route.ts"),
  "/api/sandbox/files/content": () => import("../sandbox/files/content/route.ts"),
  "/api/sessions": () => import("../sessions/route.ts"),
  "/api/sessions/{sessionId}": () => import("../sessions/[sessionId]/route.ts"),
  "/api/sessions/{sessionId}/chats": () => import("../sessions/[sessionId]/chats/route.ts"),
  "/api/sessions/{sessionId}/chats/{chatId}": () =>
    import("../sessions/[sessionId]/chats/[chatId]/route.ts"),
  "/api/skills": () => import("../skills/route.ts"),
  "/api/skills/{name}": () => import("../skills/[name]/route.ts"),
  "/api/tasks": () => import("../tasks/route.ts"),
  "/api/tasks/{id}": () => import("../tasks/[id]/route.ts"),
  "/api/tasks/{id}/run": () => import("../tasks/[id]/run/route.ts"),
  "/api/tasks/{id}/runs": () => import("../tasks/[id]/runs/route.ts"),
  "/api/tasks/{id}/triggers": () => import("../tasks/[id]/triggers/route.ts"),
  "/api/tasks/{id}/triggers/{trigger_id}": () =>
    import("../tasks/[id]/triggers/[trigger_id]/route.ts"),
  "/api/tasks/{id}/triggers/{trigger_id}/events": () =>
    import("../tasks/[id]/triggers/[trigger_id]/events/route.ts"),
  "/api/tasks/runs": () => import("../tasks/runs/route.ts"),
  "/api/usage": () => import("../usage/route.ts"),
  "/api/workspace/files": () => import("../workspace/files/route.ts"),
  "/api/workspace/files/content": () => import("../workspace/files/content/route.ts"),
  "/api/workspace/restore": () => import("../workspace/restore/route.ts"),
  "/api/workspace/search": () => import("../workspace/search/route.ts"),
  "/api/workspace/versions": () => import("../workspace/versions/route.ts"),
};

/** @param request the message, whose credential the endpoint is called with */
export const callToolFor =
  (request: Request): CallTool =>
  (name, input) => {
    const contract = toolOperations.find(({ id }) => id === name)?.contract;
    if (!contract) return null;
    const call = async () => {
      const handler = (await routes[contract.path]?.())?.[contract.method];
      if (!handler) throw new Error(`${contract.method} ${contract.path} has no route`);
      return callEndpoint(contract, handler, input, request);
    };
    return call();
  };
