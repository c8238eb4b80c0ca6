import { navItems } from "./nav-items.ts";

/** The pages of `g` and a second key. */
const pages = [
  { key: "c", label: "Chat", href: "/chat" },
  ...navItems.flatMap(({ key, label, href }) => (key ? [{ key, label, href }] : [])),
];

/** Returns the page that `g` and then this key open. */
export const pageOfKey = (key: string): string | undefined =>
  pages.find((page) => page.key === key)?.href;

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
  { title: "Go to", shortcuts: pages.map(({ key, label }) => ({ keys: ["g", key], label })) },
];
