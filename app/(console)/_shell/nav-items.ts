import {
  BookOpen,
  BookOpenCheck,
  CalendarClock,
  ChartColumn,
  Clapperboard,
  Disc3,
  FlaskConical,
  FolderOpen,
  KeyRound,
  LayoutTemplate,
  ListChecks,
  type LucideIcon,
  MicVocal,
  Plug,
  Settings,
} from "lucide-react";

export type NavItem = Readonly<{ href: string; label: string; icon: LucideIcon }>;

/** The pages beside the chats, in their order. The first group needs no heading. */
export const navGroups: readonly {
  readonly label: string;
  readonly items: readonly NavItem[];
}[] = [
  {
    label: "Work",
    items: [
      { href: "/artists", label: "Artists", icon: MicVocal },
      { href: "/files", label: "Files", icon: FolderOpen },
      { href: "/content", label: "Content", icon: Clapperboard },
      { href: "/schedules", label: "Schedules", icon: CalendarClock },
    ],
  },
  {
    label: "More",
    items: [
      { href: "/catalog", label: "Catalog", icon: Disc3 },
      { href: "/templates", label: "Templates", icon: LayoutTemplate },
      { href: "/skills", label: "Skills", icon: BookOpenCheck },
      { href: "/connectors", label: "Connectors", icon: Plug },
      { href: "/runs", label: "Runs", icon: ListChecks },
    ],
  },
  {
    label: "Developers",
    items: [
      { href: "/usage", label: "Usage", icon: ChartColumn },
      { href: "/keys", label: "API keys", icon: KeyRound },
      { href: "/playground", label: "Playground", icon: FlaskConical },
      { href: "/docs", label: "Docs", icon: BookOpen },
    ],
  },
];

/** At the foot of the sidebar, beside the account. */
export const settingsItem: NavItem = { href: "/settings", label: "Settings", icon: Settings };
