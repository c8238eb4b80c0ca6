import { curlSnippet } from "./curl.ts";
import { pythonSnippet } from "./python.ts";
import { typescriptSnippet } from "./typescript.ts";

/** The languages in which a program does the same as a scenario. `language` is for syntax highlighting. */
export const views = [
  { id: "curl", label: "curl", title: "Shell", language: "sh", textOf: curlSnippet },
  {
    ...{ id: "typescript", label: "TypeScript", title: "npm install agent-platform-client" },
    ...{ language: "ts", textOf: typescriptSnippet },
  },
  {
    ...{ id: "python", label: "Python", title: "pip install httpx" },
    ...{ language: "python", textOf: pythonSnippet },
  },
] as const;
