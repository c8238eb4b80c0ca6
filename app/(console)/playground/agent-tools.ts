/** The agent's tools, described for people. */
export const agentTools = [
  { name: "bash", text: "Runs commands on its own computer" },
  { name: "read", text: "Reads files" },
  { name: "write", text: "Writes files" },
  { name: "edit", text: "Changes parts of files" },
  { name: "grep", text: "Searches in files" },
  { name: "glob", text: "Finds files by name" },
  { name: "todo", text: "Keeps a plan" },
  { name: "task", text: "Hands work to a subagent" },
  { name: "skill", text: "Loads instructions from SKILL.md" },
  { name: "fetch", text: "Makes HTTP requests" },
  { name: "ask_user_question", text: "Asks you, and waits" },
] as const;
