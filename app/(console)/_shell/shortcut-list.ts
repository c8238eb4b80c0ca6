/** The keyboard shortcuts of the console. `keys` are pressed together, or after each other with `g`. */
export const shortcutGroups = [
  {
    title: "Anywhere",
    shortcuts: [
      { keys: ["mod", "K"], label: "Search and run commands" },
      { keys: ["?"], label: "Show keyboard shortcuts" },
      { keys: ["c"], label: "New chat" },
      { keys: ["Esc"], label: "Close a dialog or a menu" },
    ],
  },
  {
    title: "In a chat",
    shortcuts: [
      { keys: ["Enter"], label: "Send the message" },
      { keys: ["Shift", "Enter"], label: "Start a new line" },
      { keys: ["Esc"], label: "Stop the answer" },
    ],
  },
  {
    title: "Go to",
    shortcuts: [
      { keys: ["g", "c"], label: "Chat" },
      { keys: ["g", "a"], label: "Artists" },
      { keys: ["g", "m"], label: "Content" },
      { keys: ["g", "t"], label: "Templates" },
      { keys: ["g", "r"], label: "Runs" },
      { keys: ["g", "u"], label: "Usage" },
      { keys: ["g", "k"], label: "API keys" },
      { keys: ["g", "d"], label: "Docs" },
      { keys: ["g", "s"], label: "Settings" },
    ],
  },
] as const;

/** The pages of `g` and a second key. */
export const pageOfKey: Readonly<Record<string, string>> = {
  c: "/chat",
  a: "/artists",
  m: "/content",
  t: "/templates",
  r: "/runs",
  u: "/usage",
  k: "/keys",
  d: "/docs",
  s: "/settings",
};
