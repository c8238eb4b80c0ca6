import {
  BookOpen,
  Clapperboard,
  KeyRound,
  LayoutTemplate,
  ListChecks,
  MessageSquare,
  Plug,
} from "lucide-react";

export const navItems = [
  { href: "/chat", label: "Chat", icon: MessageSquare },
  { href: "/templates", label: "Templates", icon: LayoutTemplate },
  { href: "/content", label: "Content", icon: Clapperboard },
  { href: "/runs", label: "Runs", icon: ListChecks },
  { href: "/connectors", label: "Connectors", icon: Plug },
  { href: "/keys", label: "API keys", icon: KeyRound },
  { href: "/docs", label: "API reference", icon: BookOpen },
] as const;
