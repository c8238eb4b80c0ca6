import { curlSnippet } from "./curl.ts";
import { mcpConfiguration, mcpToolCall } from "./mcp.ts";
import { pythonSnippet } from "./python.ts";
import type { Scenario, Target } from "./scenario.ts";
import { typescriptSnippet } from "./typescript.ts";

export const views = [
  { id: "curl", label: "curl" },
  { id: "typescript", label: "TypeScript" },
  { id: "python", label: "Python" },
  { id: "mcp", label: "MCP" },
] as const;
export type View = (typeof views)[number]["id"];

export interface Snippet {
  readonly title: string;
  /** For syntax highlighting. */
  readonly language: string;
  readonly text: string;
}

/** Returns what does the same as the scenario in another place. */
export function snippetsOf(view: View, scenario: Scenario, target: Target): readonly Snippet[] {
  switch (view) {
    case "curl":
      return [{ title: "Shell", language: "sh", text: curlSnippet(scenario, target) }];
    case "typescript":
      return [
        {
          title: "npm install agent-platform-client",
          language: "ts",
          text: typescriptSnippet(scenario, target),
        },
      ];
    case "python":
      return [
        { title: "pip install httpx", language: "python", text: pythonSnippet(scenario, target) },
      ];
    case "mcp":
      return [
        { title: "Configuration of the client", language: "json", text: mcpConfiguration(target) },
        { title: "Tool call", language: "json", text: mcpToolCall(scenario) },
      ];
  }
}
